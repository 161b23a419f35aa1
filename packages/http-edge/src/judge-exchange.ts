import type { Exchange, Progress } from './exchange.ts'

export interface ExchangeLimits {
  bodyBytesPerSecondMin: number
  /** Timeout from the last byte of the request to the first byte of the response. */
  responseTimeoutMs: number
}

/** A body may fall so far behind the minimum rate; bytes that arrive early do not extend it. */
const bodyGraceSeconds = 10
/** Timeout for a client to read a response. */
const readTimeoutMs = 10_000

/** Why an exchange must end, or `fine`. */
export type Judgement = 'fine' | 'slow_body' | 'endless_body' | 'no_response' | 'unread'

/**
 * Judges the oldest exchange in progress on a connection. `elapsedMs` is the time since the
 * previous sweep. It counts against the client while the client sends the body or reads the
 * response, and otherwise against this process. For the rate of a body, the time and the bytes
 * before the first call do not count.
 */
export function judgeExchange(
  exchange: Exchange,
  elapsedMs: number,
  limits: ExchangeLimits,
): Judgement {
  const { request, response } = exchange
  const isFirst = exchange.progress === undefined
  const progress = (exchange.progress ??= beginProgress(request.socket.bytesRead))
  if (response.writableEnded) {
    progress.unreadMs += elapsedMs
    return progress.unreadMs > readTimeoutMs ? 'unread' : 'fine'
  }
  // A response that began before the body was complete waits for the rest of the body and then ends
  // by itself.
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
  if (isFirst) return 'fine'
  progress.bodyBytes += arrived
  if (progress.bodyBytes > exchange.bodyBytesMax) return 'endless_body'
  const due = (limits.bodyBytesPerSecondMin * elapsedMs) / 1_000
  const aheadMax = bodyGraceSeconds * limits.bodyBytesPerSecondMin
  progress.bytesAhead = Math.min(progress.bytesAhead, aheadMax) + arrived - due
  return progress.bytesAhead < 0 ? 'slow_body' : 'fine'
}

function beginProgress(bytesRead: number): Progress {
  return { bytesRead, bodyBytes: 0, bytesAhead: Infinity, processingMs: 0, unreadMs: 0 }
}
