import { digestIds, type IdDigest } from '../checksum.ts'
import { percentilesOf, type Percentiles } from '../statistics.ts'
import type { Answer } from './connection.ts'
import { codeOf } from './send-until-taken.ts'

/** The result of a load, as the client sees it. */
export interface LoadResult {
  /** From the first request to the last response. */
  seconds: number
  requests: number
  /** Requests that were sent a second time and got the same response. */
  repeats: number
  /** Refusals after which the client retried: how often, by code. */
  refusals: Record<string, number>
  /** The acknowledged events, by the ids in the responses. */
  acknowledged: IdDigest
  /** Everything other than an acknowledgement: how often, by status or error. */
  failures: Record<string, number>
  /** Of the acknowledgements, in milliseconds. */
  latencyMs: Percentiles
  /** When each event was acknowledged, in milliseconds since 1970, ascending. Only on request. */
  ackTimes: number[]
}

const nameOf = (answer: Answer) => `${answer.status} ${codeOf(answer) ?? ''}`.trim()

const idMark = '"id":"'
const idLength = 36

/**
 * Collects responses; cheap while the load runs, the digest is computed at the end. A response that
 * acknowledges fewer events than its request contained is a failure.
 */
export function createTally(options: { keepAckTimes: boolean; eventsPerRequest: number }): {
  settled(answer: Answer, latencyMs: number): void
  /** The responses to the same bytes sent twice: if they differ, it is a failure. */
  repeated(first: Answer, second: Answer): void
  refused(code: string): void
  failed(error: unknown): void
  result(seconds: number): LoadResult
} {
  const ids: string[] = []
  const latencies: number[] = []
  const ackTimes: number[] = []
  const failures: Record<string, number> = {}
  const refusals: Record<string, number> = {}
  let requests = 0
  let repeats = 0
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
        // A new string: a slice would keep the whole response in memory.
        ids.push(body.toString('latin1', at, at + idLength))
        if (options.keepAckTimes) ackTimes.push(performance.timeOrigin + performance.now())
      }
      const missing = options.eventsPerRequest - (ids.length - before)
      if (missing !== 0) count(`${status} with ${missing} events not acknowledged`)
    },
    repeated(first, second) {
      requests++
      if (second.status === first.status && second.body.equals(first.body)) repeats++
      else count(`a repeat got ${nameOf(second)} after ${nameOf(first)}`)
    },
    refused: (code) => void (refusals[code] = (refusals[code] ?? 0) + 1),
    failed(error) {
      requests++
      count(error instanceof Error ? error.message : String(error))
    },
    result: (seconds) => ({
      seconds,
      requests,
      repeats,
      refusals,
      acknowledged: digestIds(ids),
      failures,
      latencyMs: percentilesOf(latencies),
      ackTimes,
    }),
  }
}
