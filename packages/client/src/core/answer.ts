import type { Clock } from './clock.ts'
import { decide, isDefinite, readRefusal, type Decision, type Refusal } from './decide.ts'
import { roundTripMsMax } from './limits.ts'
import type { Answer, OutgoingRequest, TimeSource, Transport } from './ports.ts'

/** What became of an attempt. */
export type Attempted =
  | { answer: Answer; refusal?: undefined }
  /** `code`: of the problem, or `http_` and the status. */
  | {
      answer?: undefined
      refusal: Refusal
      decision: Decision
      code: string
      isDefinite: boolean
      retryAfterMs?: number | undefined
    }

/** Sends a request and reads from its answer what concerns every request. */
export async function attemptRequest(options: {
  transport: Transport
  request: OutgoingRequest
  successStatus: number
  clock: Clock
  time: Pick<TimeSource, 'now' | 'monotonic'>
}): Promise<Attempted> {
  const { transport, request, successStatus, clock, time } = options
  const began = time.monotonic()
  let answer: Answer
  try {
    answer = await transport(request)
  } catch {
    const refusal = { status: 0, code: undefined, serverTime: undefined }
    return { refusal, decision: 'retry', code: 'network', isDefinite: false }
  }
  const tookMs = time.monotonic() - began
  const refusal = readRefusal(answer)
  const serverMs = refusal.serverTime || headerTime(answer.date)
  if (serverMs && tookMs < roundTripMsMax) clock.observe(serverMs, tookMs)
  if (answer.status === successStatus) return { answer }
  return {
    refusal,
    decision: decide(refusal),
    code: refusal.code || `http_${refusal.status}`,
    isDefinite: isDefinite(refusal),
    retryAfterMs: retryAfterMs(answer.retryAfter, clock.now()),
  }
}

/** The header has whole seconds; on average half a second has passed. */
const headerTime = (date: string | null) => (date ? Date.parse(date) + 500 : 0)

/** `Retry-After` is a number of seconds, or a date. */
function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (!value) return undefined
  const ms = isNaN(Number(value)) ? Date.parse(value) - nowMs : Number(value) * 1000
  return ms >= 0 ? ms : undefined
}
