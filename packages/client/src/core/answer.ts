import type { Core } from './core.ts'
import { decide, isDefinite, parseObject, type Decision } from './decide.ts'
import { roundTripMsMax } from './limits.ts'
import type { Answer, OutgoingRequest } from './ports.ts'

/** The result of one attempt to send a request. */
export interface Attempted {
  /** The response body if the request succeeded. */
  body?: string | undefined
  decision: Decision
  /**
   * The error code in the response; without one, `http_` and the status, which is 0 if there was no
   * response.
   */
  code: string
  /** True if it is certain that nothing was stored. */
  isDefinite: boolean
  /** How long the server asked to wait; 0 if it did not say. */
  retryAfterMs: number
}

/** Sends a request and reads from the response what every request needs. */
export async function attemptRequest(
  { ports: { transport, time }, clock }: Core,
  request: OutgoingRequest,
): Promise<Attempted> {
  const began = time.monotonic()
  const answer: Partial<Answer> = await transport(request).catch(() => ({}))
  const { status = 0, body = '', date, retryAfter } = answer
  const tookMs = time.monotonic() - began
  const { code, server_time: serverTime } = parseObject(body) as Record<string, string | undefined>
  // `Date` has whole seconds, so on average half a second has passed since then.
  const serverMs = Date.parse(serverTime || '') || Date.parse(date || '') + 500
  if (serverMs && tookMs < roundTripMsMax) clock.observe(serverMs, tookMs)
  return {
    body: status === 201 || status === 207 ? body : undefined,
    decision: decide(status, code),
    code: code || `http_${status}`,
    isDefinite: isDefinite(status, code),
    // `Retry-After` is a number of seconds or a date.
    retryAfterMs:
      Number(retryAfter) * 1000 || Math.max(0, Date.parse(retryAfter || '') - clock.now()) || 0,
  }
}
