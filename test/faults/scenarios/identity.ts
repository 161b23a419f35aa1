import { request } from 'undici'
import { changedLimits, preloadArgs } from '@intake/test-kit/app-process'
import { mayFakeTime, restartWithFakeTime } from '../kit/faketime.ts'
import type { Payload } from '../kit/payload.ts'
import { createSender, type Sent } from '../kit/sender.ts'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

const secondMs = 1_000
const dayMs = 86_400_000
/** The next month may begin in 31 days, and the ids of the load are of today. */
const oldEvents = changedLimits({ eventAgeMs: 40 * dayMs })
const fewKeys = changedLimits({ reservationShares: { logs: 0.00002, feedback: 0.1 } })

/**
 * Yields numbers of records (see `createPayloads`), beginning at `from`. Leaves out the numbers
 * whose records are feedback (every 25th by default) or have an idempotency key or an id (every
 * fourth). The load of the scenario must use only numbers below `from`.
 */
function* plainNumbers(from: number): Generator<number> {
  for (let seq = from; ; seq++) if (seq % 4 !== 0 && seq % 25 !== 0) yield seq
}

/** Sends single records in addition to the producer, and writes them to the history too. */
function besides({ cluster, history, payload, later }: Stage, from: number) {
  const sender = createSender({ apiKey: cluster.apiKey, connections: 64 })
  later(() => sender.close())
  const numbers = plainNumbers(from)
  return {
    next: () => numbers.next().value as number,
    record: (seq: number, idempotencyKey: string): Payload => ({
      ...payload(seq),
      keyed: true,
      idempotencyKey,
    }),
    /** Sends a record once, and writes the attempt to the history. */
    async send(url: string, seq: number, record: Payload): Promise<Sent> {
      await history.append({ seq, attempt: 1, is: 'issued', kind: 'logs', keyed: true })
      const sent = await sender.send(url, record)
      await history.append({ seq, attempt: 1, ...sent.outcome, ms: 0 })
      return sent
    },
    /**
     * Sends a record, but does not write the attempt to the history. If the gateway accepts the
     * record, another attempt to send it must be in the history.
     */
    again: (url: string, record: Payload) => sender.send(url, record),
  }
}

const idOf = ({ outcome }: Sent) => (outcome.is === 'acknowledged' ? outcome.id : outcome)

async function statusOfReadyz(url: string): Promise<{ status: number; text: string }> {
  const { statusCode, body } = await request(`${url}/readyz`)
  return { status: statusCode, text: await body.text() }
}

/**
 * Checks that all rows with the same identity are in one partition (a month). Only then does a
 * query for a month see all these rows and count them as one record.
 */
async function expectOnePartition({ cluster, expect }: Stage): Promise<void> {
  const split = await cluster.sql.query(
    `SELECT id FROM intake.logs_raw GROUP BY bundle_identifier, id, device_uuid
     HAVING uniqExact(_partition_id) > 1`,
  )
  expect(split.length === 0, `no record is in two partitions (${split.length})`)
}

/** Scenarios about the identity of records with idempotency keys. */
export const identityScenarios: Scenario[] = [
  {
    id: 'F63',
    title:
      "keyed retries through two gateways across midnight and month end of Redis's clock: same id",
    cannotRun: mayFakeTime,
    cluster: {
      gateways: 2,
      gatewayArgs: [...preloadArgs, ...oldEvents.args],
      gatewayEnv: oldEvents.env,
    },
    load: { rate: 50 },
    async run(stage) {
      const { cluster, acknowledged, dir, expect } = stage
      await acknowledged(50)
      const setOffMs = await restartWithFakeTime(cluster.redis, dir)
      const { next, record, send } = besides(stage, 2_000_001)
      const [busy, quiet] = cluster.gatewayUrls as [string, string]
      const first = new Map<number, { sent: Payload; id: unknown }>()
      let differ = 0
      const now = new Date()
      await crossMidnight(1, (seq) => (seq % 2 === 0 ? [busy, quiet] : [quiet, busy]))
      // A gateway with new idempotency keys asks Redis for the day every second, one without only
      // every five seconds. So the quiet gateway usually learns of the next two midnights later.
      cluster.inRotation.delete(quiet)
      await crossMidnight(2, () => [busy, quiet])
      await crossMidnight(3, () => [busy, quiet])
      cluster.inRotation.add(quiet)
      await Promise.all(
        [...first].map(async ([seq, { sent, id }]) => {
          if (idOf(await send(busy, seq, sent)) !== id) differ++
        }),
      )
      expect(differ === 0, `every retry gets the same id (${differ} did not)`)
      await acknowledged(50)
      await expectOnePartition(stage)

      /** Sends each record to two gateways, around the start of day `date` of the next month. */
      async function crossMidnight(
        date: number,
        urlsOf: (seq: number) => [string, string],
      ): Promise<void> {
        const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, date)
        const clockOffMs = midnight - Date.now() - 4 * secondMs
        setOffMs(clockOffMs)
        for (const gateway of cluster.gateways) gateway.tell({ clockOffMs })
        await Promise.all(
          [0, 1].map((index) => until('the gateway is ready', () => cluster.gatewayReady(index))),
        )
        const isAfter = () => Date.now() + clockOffMs >= midnight
        const answered = { before: 0, after: 0 }
        const sendTwice = async () => {
          const seq = next()
          const sent = record(seq, `midnight ${seq}`)
          const [url, otherUrl] = urlsOf(seq)
          const time = isAfter() ? 'after' : 'before'
          const one = idOf(await send(url, seq, sent))
          const other = idOf(await send(otherUrl, seq, sent))
          if (typeof one !== 'string' || typeof other !== 'string') return
          answered[time]++
          first.set(seq, { sent, id: one })
          if (one !== other) differ++
        }
        const pairs: Promise<void>[] = []
        await until('both gateways have read the new day', () => {
          for (let pair = 0; pair < 3; pair++) pairs.push(sendTwice())
          return Date.now() + clockOffMs > midnight + 6 * secondMs
        })
        await Promise.all(pairs)
        const { before, after } = answered
        expect(before > 20 && after > 20, `before and after midnight (${before}, ${after})`)
      }
    },
  },
  {
    id: 'F64',
    title:
      'the memory share of keys is used up: keys_full for new keys, everything else is accepted',
    cluster: { gatewayArgs: fewKeys.args, gatewayEnv: fewKeys.env },
    load: { rate: 100 },
    async run(stage) {
      const { cluster, acknowledged, history, expect } = stage
      const [url] = cluster.gatewayUrls
      const { next, record, send, again } = besides(stage, 2_000_001)
      const seq = next()
      const known = record(seq, 'known')
      const first = idOf(await send(url!, seq, known))
      await until('new keys are refused', () =>
        history.events.some((one) => one.is === 'refused' && one.code === 'keys_full'),
      )
      const fullAt = history.events.length
      await acknowledged(200)
      const kinds = new Map(
        history.events.flatMap((one) => (one.is === 'issued' ? [[one.seq, one]] : [])),
      )
      const since = history.events.slice(fullAt).flatMap((one) => {
        return one.is === 'acknowledged' ? [kinds.get(one.seq)!] : []
      })
      expect(
        since.some(({ kind, keyed }) => kind === 'logs' && !keyed),
        'logs without a key are accepted',
      )
      expect(
        since.some(({ kind, keyed }) => kind === 'feedback' && keyed),
        'feedback with keys is accepted',
      )
      const repeated = idOf(await again(url!, known))
      expect(repeated === first, `a known key is still found (${JSON.stringify(repeated)})`)
      const { status, text } = await statusOfReadyz(cluster.gateways[0]!.adminUrl())
      expect(status === 200 && text.includes('degraded'), `ready, and degraded (${text})`)
    },
  },
]
