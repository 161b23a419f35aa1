import { digestIds, type IdDigest } from '../checksum.ts'
import { percentilesOf, type Percentiles } from '../statistics.ts'
import type { Answer } from './connection.ts'

/** The result of a load, as the client sees it. */
export interface LoadResult {
  /** Seconds from the first request to the last response. */
  seconds: number
  requests: number
  /** The digest of the ids of the acknowledged events. The responses contain these ids. */
  acknowledged: IdDigest
  /** The number of failed requests, by status and error code, or by the message of the error. */
  failures: Record<string, number>
  /** The latency of the acknowledgements, in milliseconds. */
  latencyMs: Percentiles
}

/** The status and the error code of a response. */
function nameOf({ status, body }: Answer): string {
  return `${status} ${/"code":"(\w+)"/.exec(body.toString())?.[1] ?? ''}`.trim()
}

const idMark = '"id":"'
const idLength = 36

/**
 * Collects responses. It uses little CPU while the load runs, because the digest is computed at the
 * end. A response that acknowledges fewer events than its request contained counts as a failure.
 */
export function createTally(options: { eventsPerRequest: number }): {
  settled(answer: Answer, latencyMs: number): void
  failed(error: unknown): void
  result(seconds: number): LoadResult
} {
  const ids: string[] = []
  const latencies: number[] = []
  const failures: Record<string, number> = {}
  let requests = 0
  const count = (reason: string) => (failures[reason] = (failures[reason] ?? 0) + 1)

  return {
    settled(answer, latencyMs) {
      const { status, body } = answer
      requests++
      if (status !== 201 && status !== 207) {
        count(nameOf(answer))
        return
      }
      latencies.push(latencyMs)
      const before = ids.length
      for (let at = body.indexOf(idMark); at !== -1; at = body.indexOf(idMark, at)) {
        at += idMark.length
        // Copies the string, because a slice would keep the whole response in memory.
        ids.push(body.toString('latin1', at, at + idLength))
      }
      const missing = options.eventsPerRequest - (ids.length - before)
      if (missing !== 0) count(`${status} with ${missing} events not acknowledged`)
    },
    failed(error) {
      requests++
      count(error instanceof Error ? error.message : String(error))
    },
    result: (seconds) => ({
      seconds,
      requests,
      acknowledged: digestIds(ids),
      failures,
      latencyMs: percentilesOf(latencies),
    }),
  }
}
