import type { Core } from './core.ts'
import { decide, isDefinite, parseObject, type Decision } from './decide.ts'
import { roundTripMsMax } from './limits.ts'
import type { Answer, OutgoingRequest } from './ports.ts'

/** What became of an attempt. */
export interface Attempted {
  /** Of a success. */
  body?: string | undefined
  decision: Decision
  /** Of the problem, or `http_` and the status; 0: no answer. */
  code: string
  /** Nothing was stored. */
  isDefinite: boolean
  /** 0: the server did not say. */
  retryAfterMs: number
}

/** Sends a request and reads from its answer what concerns every request. */
export async function attemptRequest(
  { ports: { transport, time }, clock }: Core,
  request: OutgoingRequest,
): Promise<Attempted> {
  const began = time.monotonic()
  const answer: Partial<Answer> = await transport(request).catch(() => ({}))
  const { status = 0, body = '', date, retryAfter } = answer
  const tookMs = time.monotonic() - began
  const { code, server_time: serverTime } = parseObject(body) as Record<string, string | undefined>
  // The header has whole seconds; on average half a second has passed.
  const serverMs = Date.parse(serverTime || '') || Date.parse(date || '') + 500
  if (serverMs && tookMs < roundTripMsMax) clock.observe(serverMs, tookMs)
  return {
    body: status === 201 || status === 207 ? body : undefined,
    decision: decide(status, code),
    code: code || `http_${status}`,
    isDefinite: isDefinite(status, code),
    // A number of seconds, or a date.
    retryAfterMs:
      Number(retryAfter) * 1000 || Math.max(0, Date.parse(retryAfter || '') - clock.now()) || 0,
  }
}
