import { setTimeout as pause } from 'node:timers/promises'
import { createAlertStore, type AlertChoice } from '@intake/access'
import { sqlTime } from '@intake/clickhouse'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

/** The producer sends this event of this application all the time. */
const usual = { bundle: 'com.example.app0', event: 'event_6', versionName: '' } as const
const ofUsual = `bundle_identifier = '${usual.bundle}' AND event = '${usual.event}'`
/** A message may come so long after the event that matters. */
const foundMsMax = 120_000

const add = async (
  { cluster }: Stage,
  choice: Pick<AlertChoice, 'condition' | 'threshold' | 'minutes'>,
) => {
  const store = createAlertStore({ redis: cluster.keys, who: 'faults' })
  return (await store.add({ ...usual, unit: 'events', ...choice }))!.id
}

/** The ids of the messages about an alert. */
const messagesOf = ({ cluster }: Stage, id: string) =>
  [...cluster.webhook!.accepted.keys()].filter((one) => one.startsWith(`${id}-`))

/** The states of alerts by id; empty while ClickHouse does not respond. */
async function statesOf({ cluster }: Stage): Promise<Record<string, string>> {
  const rows = await cluster.sql.query<{ id: string; state: string }>(
    'SELECT id, state FROM intake.alert_states',
  )
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]))
}

export const alertScenarios: Scenario[] = [
  {
    id: 'F82',
    title: 'each part killed while an alert fires: found within two minutes, one message',
    cluster: { consoles: 2 },
    load: { rate: 60 },
    async run(stage) {
      const { cluster, expect, random } = stage
      const since = new Date()
      const threshold = 60
      const spike = await add(stage, { condition: 'above', threshold, minutes: 60 })
      await until('the spike is found', () => messagesOf(stage, spike).length > 0, {
        stallMs: 240_000,
      })
      const foundAt = Date.now()
      const [crossed] = await cluster.sql.query<{ at: number }>(
        `SELECT toUnixTimestamp64Milli(received_at) AS at FROM intake.logs
         WHERE ${ofUsual} ORDER BY received_at LIMIT 1 OFFSET ${threshold}`,
      )
      const tookMs = foundAt - Number(crossed?.at)
      expect(tookMs <= foundMsMax, `the spike is found within two minutes (${tookMs} ms)`)
      expect(since.getTime() < Number(crossed?.at), 'it begins after the alert was added')

      const { gateways, workers, consoles, redis, clickhouse, webhook } = cluster
      const killed = await add(stage, { condition: 'above', threshold: 0, minutes: 60 })
      // The receiver has the request of a console that is killed before it sees the response.
      webhook!.treat('held')
      await until('the receiver has the message', () => webhook!.held() > 0, { stallMs: 240_000 })
      await Promise.all(consoles.map((one) => one.kill()))
      webhook!.treat('accepted')
      const others = [...gateways, ...workers, redis, clickhouse]
      for (const one of [...others, ...consoles]) {
        await one.kill()
        await pause(random() * 500)
        await Promise.all([one, ...consoles].map((part) => part.start()))
        await stage.acknowledged(10)
      }
      await until('it is told', () => messagesOf(stage, killed).length > 0, { stallMs: 240_000 })
      // Another evaluation announces what was told again.
      const evaluated = sqlTime(new Date())
      await until(
        'it is evaluated again',
        async () => {
          const rows = await cluster.sql.query(
            `SELECT 1 FROM intake.alert_states WHERE id = {id:String} AND evaluated_at > {evaluated:DateTime64(3, 'UTC')}`,
            { id: killed, evaluated },
          )
          return rows.length > 0
        },
        { stallMs: 240_000 },
      )
      for (const id of [spike, killed]) {
        const messages = messagesOf(stage, id)
        expect(messages.length === 1, `one message for each alert (${messages.join(', ')})`)
      }
    },
  },
  {
    id: 'F83',
    title: 'worker stopped, then ClickHouse frozen: no false silence, no false recovery',
    cluster: { consoles: 1 },
    load: { rate: 30 },
    async run(stage) {
      const { cluster, expect, later } = stage
      const silence = await add(stage, { condition: 'below', threshold: 1, minutes: 1 })
      const spike = await add(stage, { condition: 'above', threshold: 0, minutes: 1 })
      const isSettled = async () => {
        const states = await statesOf(stage)
        return states[silence] === 'ok' && states[spike] === 'firing'
      }
      await until('both are known', isSettled, { stallMs: 240_000 })
      const seen = { [silence]: new Set<string>(), [spike]: new Set<string>() }
      const ending = new AbortController()
      const watching = (async () => {
        while (!ending.signal.aborted) {
          const states: Record<string, string> = await statesOf(stage).catch(() => ({}))
          for (const [id, those] of Object.entries(seen)) if (states[id]) those.add(states[id])
          await pause(1_000, undefined, { signal: ending.signal }).catch(() => undefined)
        }
      })()
      later(() => {
        ending.abort()
        return watching
      })

      const [worker] = cluster.workers
      await worker!.kill()
      // Both are judged in the same run, so the silence has been judged by then, too.
      await until('the spike is not certain', () => seen[spike]!.has('unknown'), {
        stallMs: 400_000,
      })
      cluster.clickhouse.freeze()
      await worker!.start()
      await pause(130_000)
      cluster.clickhouse.thaw()
      await until('both are known again', isSettled, { stallMs: 400_000 })
      expect(!seen[silence]!.has('firing'), 'no false silence')
      expect(!seen[spike]!.has('ok'), 'no false recovery')
      expect(messagesOf(stage, silence).length === 0, 'no message about the silence')
      expect(messagesOf(stage, spike).length === 1, 'one message about the spike')
    },
  },
]
