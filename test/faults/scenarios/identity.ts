import { isDeepStrictEqual } from 'node:util'
import { request } from 'undici'
import { dayMs } from '@intake/contract'
import { changedLimits, preloadArgs } from '@intake/test-kit/app-process'
import { mayFakeTime, restartWithFakeTime } from '../kit/faketime.ts'
import { uuidV7, type Payload } from '../kit/payload.ts'
import { createSender, type Sent } from '../kit/sender.ts'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

const secondMs = 1_000
const ageMs = 30 * dayMs
const fewKeys = changedLimits({ reservationShares: { logs: 0.00002, feedback: 0.1 } })
const aheadMs = 10 * 60 * secondMs

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
    /** The record with this number. The fields in `log` are added to the record's log. */
    record: (seq: number, log: object = {}, idempotencyKey?: string): Payload => {
      const plain = payload(seq)
      const body = { ...plain.body, log: { ...(plain.body['log'] as object), ...log } }
      return { ...plain, body, keyed: true, idempotencyKey }
    },
    /**
     * Sends a record once, and writes the attempt to the history.
     *
     * @param isHeard if false, the history says that the response was lost
     */
    async send(url: string, seq: number, record: Payload, isHeard = true): Promise<Sent> {
      await history.append({ seq, attempt: 1, is: 'issued', kind: 'logs', keyed: true })
      const sent = await sender.send(url, record)
      const outcome = isHeard ? sent.outcome : { is: 'unknown' as const, why: 'response lost' }
      await history.append({ seq, attempt: 1, ...outcome, ms: 0 })
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
const codeOf = ({ outcome }: Sent) => (outcome.is === 'refused' ? outcome.code : outcome.is)

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

/** Scenarios about the identity of a record: client ids, keys, clocks and time limits. */
export const identityScenarios: Scenario[] = [
  {
    id: 'F60',
    title: 'the same client ids through two gateways whose clocks are 4 s apart: one record each',
    cluster: { gateways: 2, gatewayArgs: preloadArgs },
    load: { rate: 50 },
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      await acknowledged(50)
      cluster.gateways[0]!.tell({ clockOffMs: 4 * secondMs })
      const { next, record, send } = besides(stage, 2_000_001)
      for (let round = 0; round < 10; round++) {
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const seq = next()
            const id = uuidV7(Date.now() - round * dayMs, seq)
            const both = await Promise.all(
              cluster.gatewayUrls.map((url) => send(url, seq, record(seq, { id }))),
            )
            expect(
              both.every((sent) => idOf(sent) === id),
              'both are acknowledged with the id of the client',
            )
          }),
        )
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F61',
    title: 'the clock of one of two gateways jumps by 10 s, an hour, ten years: it accepts nothing',
    cluster: { gateways: 2, gatewayArgs: preloadArgs },
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      const [gateway] = cluster.gateways
      const [url] = cluster.gatewayUrls
      const { next, record, again } = besides(stage, 2_000_001)
      for (const clockOffMs of [10, 3_600, -3_600, 10 * 365 * 86_400].map((s) => s * secondMs)) {
        await acknowledged(50)
        gateway!.tell({ clockOffMs })
        await until('the gateway is not ready', async () => !(await cluster.gatewayReady(0)))
        const { text } = await statusOfReadyz(gateway!.adminUrl())
        expect(/clock/i.test(text), `its readiness names the clock (${text})`)
        const code = codeOf(await again(url!, record(next())))
        expect(code === 'clock_skew', `a record is refused with clock_skew (${code})`)
        gateway!.tell({ clockOffMs: 0 })
        await until('the gateway is ready again', () => cluster.gatewayReady(0))
      }
      await acknowledged(100)
      const [row] = await cluster.sql.query<{ n: number }>(
        `SELECT count() AS n FROM intake.logs WHERE abs(dateDiff('second', time, now())) > 600`,
      )
      expect(row?.n === 0, `no record has a time of the wrong clock (${row?.n})`)
    },
  },
  {
    id: 'F62',
    title:
      'client ids retried across the limits of their time, the first response lost: one record',
    load: { rate: 50 },
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      const [url] = cluster.gatewayUrls
      const { next, record, send, again } = besides(stage, 2_000_001)
      await acknowledged(50)
      const old = Array.from({ length: 20 }, () => {
        const seq = next()
        return { seq, sent: record(seq, { id: uuidV7(Date.now() - ageMs + 3 * secondMs, seq) }) }
      })
      const first = await Promise.all(old.map(({ seq, sent }) => send(url!, seq, sent, false)))
      expect(
        first.every(({ outcome }) => outcome.is === 'acknowledged'),
        'within the limit they are stored',
      )
      await until('the limit has passed', async () => {
        const codes = await Promise.all(
          old.map(async ({ sent }) => codeOf(await again(url!, sent))),
        )
        return codes.every((code) => code === 'id_time_out_of_range')
      })

      const seq = next()
      const early = record(seq, { id: uuidV7(Date.now() + aheadMs + 2 * secondMs, seq) })
      const refused = codeOf(await again(url!, early))
      expect(
        refused === 'id_time_out_of_range',
        `an id too far in the future is refused (${refused})`,
      )
      await until('its time is within the limit', async () => {
        return (await again(url!, early)).outcome.is === 'acknowledged'
      })
      await send(url!, seq, early)
      await acknowledged(50)
    },
  },
  {
    id: 'F63a',
    title: 'keyed retries whose timestamp crosses the limit between two attempts: same id',
    load: { rate: 50 },
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      const [url] = cluster.gatewayUrls
      const { next, record, send } = besides(stage, 2_000_001)
      await acknowledged(50)
      const timestamp = new Date(Date.now() - ageMs + 3 * secondMs).toISOString()
      const records = Array.from({ length: 20 }, () => {
        const seq = next()
        return { seq, sent: record(seq, { timestamp }, `bound ${seq}`) }
      })
      const sendAll = () =>
        Promise.all(records.map(async ({ seq, sent }) => idOf(await send(url!, seq, sent))))
      const before = await sendAll()
      await until('the limit has passed', () => Date.parse(timestamp) < Date.now() - ageMs - 1)
      const after = await sendAll()
      expect(isDeepStrictEqual(after, before), 'every retry gets the id of its first attempt')
      await until('all of them can be queried by their time', async () => {
        const [row] = await cluster.sql.query<{ n: number }>(
          "SELECT count() AS n FROM intake.logs_raw FINAL WHERE time = {time:DateTime64(3, 'UTC')}",
          { time: timestamp.replace('T', ' ').slice(0, -1) },
        )
        return Number(row?.n) === records.length
      })
      await expectOnePartition(stage)
    },
  },
  {
    id: 'F63b',
    title:
      "keyed retries through two gateways across midnight and month end of Redis's clock: same id",
    cannotRun: mayFakeTime,
    cluster: { gateways: 2, gatewayArgs: preloadArgs },
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
          const sent = record(seq, {}, `midnight ${seq}`)
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
      const known = record(seq, {}, 'known')
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
  {
    id: 'F65',
    title: 'events that alternate between two months: frames stay large',
    load: { rate: 50 },
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      const [gateway] = cluster.gateways
      const [url] = cluster.gatewayUrls
      await acknowledged(50)
      const frames = () => cluster.metric(gateway!, 'intake_frames_enqueued_total{kind="logs"}')
      const rows = () => cluster.metric(gateway!, 'intake_records_accepted_total{kind="logs"}')
      const before = { frames: await frames(), rows: await rows() }
      const { next, record, send } = besides(stage, 2_000_001)
      const months = [Date.now() - 29 * dayMs, Date.now()]
      for (let round = 0; round < 5; round++) {
        await Promise.all(
          Array.from({ length: 200 }, (_, n) => {
            const seq = next()
            return send(url!, seq, record(seq, { id: uuidV7(months[n % 2]!, seq) }))
          }),
        )
      }
      const perFrame = ((await rows()) - before.rows) / ((await frames()) - before.frames)
      expect(perFrame > 4, `more than four rows share a frame (${perFrame.toFixed(1)})`)
      await expectOnePartition(stage)
    },
  },
]
