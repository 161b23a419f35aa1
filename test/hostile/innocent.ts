import { join } from 'node:path'
import { openHistory, type Event } from '../faults/kit/history.ts'
import { createPayloads, type Payload } from '../faults/kit/payload.ts'
import { startProducer } from '../faults/kit/producer.ts'
import { until } from '@intake/test-kit/until'

/** The responses that the innocent sender got in a period. */
export interface Notice {
  responses: number
  p50Ms: number
  slowestMs: number
  /** Outcomes other than an acknowledgement, by code. */
  refusals: Record<string, number>
}

export interface Innocent {
  events: readonly Event[]
  payload: (seq: number) => Payload
  /** An SQL condition that selects the rows of this sender. */
  where: string
  /** Resolves when this many more records have been sent. */
  issued(more: number): Promise<void>
  /** Starts a period. Returns a function that ends the period and returns its responses. */
  observe(): () => Notice
  /** Stops sending; resolves when every request has an outcome. */
  stop(): Promise<void>
}

const rate = 20
/**
 * One record in this many also has the field `large`. The gateway parses such a large document in
 * turns with other documents.
 */
const largeEvery = 10
const large = 'x'.repeat(20_000)

/**
 * Behaves like an ordinary app: 20 records a second, without waiting for responses. Some records
 * are feedback with small images. Every second record uses a new connection.
 *
 * @param options.run a number that is unique among the senders on the same data
 */
export function startInnocent(options: {
  url: string
  apiKey: string
  dir: string
  root: string
  run: number
  /** The wait for a CPU, from `createCpuWait`. It is subtracted from the response times. */
  cpuWaitMs: () => number
}): Innocent {
  const { url, apiKey, dir, root, run, cpuWaitMs } = options
  const history = openHistory(join(dir, `history-${run}.jsonl`))
  const payloads = createPayloads({ feedbackEvery: 20, keyedEvery: 4, root })
  const payload = (seq: number) => ofRun(payloads(seq), run)
  const urls = new Set([url])
  const producer = startProducer({
    urls,
    apiKey,
    history,
    payload,
    rate,
    freshEvery: 2,
    cpuWaitMs,
  })

  let stopped: Promise<void> | undefined
  async function stop(): Promise<void> {
    await producer.stop({ repeatMs: 0 })
    await history.close()
  }

  return {
    events: history.events,
    payload,
    where: `startsWith(bundle_identifier, 'com.example.app') AND position(toString(device_uuid), '${groupOf(run)}') > 0`,
    async issued(more) {
      const wanted = producer.issued() + more
      await until(`${more} more are issued`, () => producer.issued() >= wanted)
    },
    observe() {
      const from = history.events.length
      return () => notice(history.events.slice(from))
    },
    stop: () => (stopped ??= stop()),
  }
}

/**
 * Gives the record a device that only this run uses. An idempotency key belongs to a device, so no
 * run repeats the keys of another.
 */
function ofRun(record: Payload, run: number): Payload {
  const isLarge = Number(record.expected['seq']) % largeEvery === 1
  const device_uuid = String(record.body['device_uuid']).replace('-2f4f-', groupOf(run))
  return {
    ...record,
    body: { ...record.body, device_uuid, ...(isLarge && { large }) },
    expected: { ...record.expected, device_uuid },
  }
}

/** The second group of the `device_uuid`, which differs between runs. */
const groupOf = (run: number) => `-${run.toString(16).padStart(4, '0')}-`

function notice(events: readonly Event[]): Notice {
  const times: number[] = []
  const refusals: Record<string, number> = {}
  for (const event of events) {
    if (event.is === 'issued') continue
    times.push(event.ms)
    if (event.is === 'acknowledged') continue
    const code = event.is === 'refused' ? event.code || String(event.status) : event.why
    refusals[code] = (refusals[code] ?? 0) + 1
  }
  times.sort((a, b) => a - b)
  return {
    responses: times.length,
    p50Ms: times[Math.floor(times.length / 2)] ?? 0,
    slowestMs: times.at(-1) ?? 0,
    refusals,
  }
}
