import type { Exchange } from './exchange.ts'

export interface ExchangeLimits {
  bodyBytesPerSecondMin: number
  /** From the last byte of the request to the first of the response. */
  responseTimeoutMs: number
}

/** A body may be behind the slowest rate by what that rate brings in this time; no burst buys more. */
const bodyGraceSeconds = 10
/** Time in which a client must read a response. */
const readTimeoutMs = 10_000

/** Who makes an exchange last too long, if anybody does. */
export type Verdict = 'fine' | 'slow_body' | 'endless_body' | 'no_response' | 'unread'

/**
 * Judges an exchange that is the first on its connection, `elapsedMs` after the last time. Time counts
 * for whoever is waited for: the client while its body or its reading is due, this process otherwise.
 */
export function judgeExchange(
  { request, response, progress, bodyBytesMax }: Exchange,
  elapsedMs: number,
  limits: ExchangeLimits,
): Verdict {
  if (response.writableEnded) {
    progress.unreadMs += elapsedMs
    return progress.unreadMs > readTimeoutMs ? 'unread' : 'fine'
  }
  // What is sent before its end waits for the rest of the body, and ends by itself.
  if (response.headersSent) return 'fine'

  const { bytesRead } = request.socket
  const arrived = bytesRead - progress.bytesRead
  progress.bytesRead = bytesRead
  const isBufferFull = request.readableLength >= request.readableHighWaterMark
  if (request.complete || (isBufferFull && arrived === 0)) {
    progress.processingMs += elapsedMs
    return progress.processingMs > limits.responseTimeoutMs ? 'no_response' : 'fine'
  }
  progress.processingMs = 0
  progress.bodyBytes += arrived
  if (progress.bodyBytes > bodyBytesMax) return 'endless_body'
  const due = (limits.bodyBytesPerSecondMin * elapsedMs) / 1_000
  const aheadMax = bodyGraceSeconds * limits.bodyBytesPerSecondMin
  progress.bytesAhead = Math.min(Math.min(progress.bytesAhead, aheadMax) + arrived - due, aheadMax)
  return progress.bytesAhead < 0 ? 'slow_body' : 'fine'
}
