import { compress } from '@intake/queue/frame'
import type { FrameProducer } from '@intake/queue/produce'
import { startPolling, systemClock, type Clock } from '@intake/runtime'
import type { OutcomeCounts, OutcomeReport } from './outcome-counts.ts'

const intervalMs = 10_000
const enqueueTimeoutMs = 5_000
const lastTimeoutMs = 2_000
const rowsMax = 1_000

/**
 * Sends the counts of outcomes to the queue every ten seconds. If Redis does not confirm a report,
 * the next one contains the same count or a higher one, and replaces it.
 *
 * @param options.onError called when a report was not confirmed; the report is sent again
 * @param options.onLost called by `close` when Redis does not confirm the last counts, with the
 * number of records that may be missing from the outcome counts
 */
export function startOutcomeReports(options: {
  counts: OutcomeCounts
  producer: Pick<FrameProducer, 'add'>
  onError: (error: unknown) => void
  onLost: (error: unknown, records: number) => void
  clock?: Clock
  wallMs?: () => number
}): { close(): Promise<void> } {
  const { counts, producer, onError, onLost, clock = systemClock } = options
  const { wallMs = Date.now } = options

  async function send(timeoutMs: number): Promise<void> {
    const deadline = clock.now() + timeoutMs
    for (const reports of chunks(counts.unreported())) {
      const ndjson = Buffer.from(reports.map(rowOf).join(''))
      const frame = { rows: reports.length, jsonBytes: ndjson.length, ...compress(ndjson) }
      await producer.add({ ...frame, receivedAtMs: wallMs() }, deadline)
      for (const report of reports) counts.confirm(report)
    }
  }

  const polling = startPolling({ poll: () => send(enqueueTimeoutMs), intervalMs, onError, clock })

  return {
    /** Sends the unsent counts, if Redis responds within two seconds. */
    async close() {
      polling.close()
      await send(lastTimeoutMs).catch((error: unknown) => {
        onLost(
          error,
          counts.unreported().reduce((sum, { records }) => sum + records, 0),
        )
      })
    },
  }
}

/** Prints a report as a row of `intake.outcomes_raw`. */
function rowOf({ minuteMs, apiKeyId, ...others }: OutcomeReport): string {
  const minute = new Date(minuteMs).toISOString()
  return `${JSON.stringify({ minute, api_key_id: apiKeyId, ...others })}\n`
}

function* chunks(reports: OutcomeReport[]): Generator<OutcomeReport[]> {
  for (let at = 0; at < reports.length; at += rowsMax) yield reports.slice(at, at + rowsMax)
}
