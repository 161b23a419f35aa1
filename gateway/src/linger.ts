import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { createChunkLimit } from './chunk-limit.ts'

/** A body of this size is read past after a refusal, so that the connection can stay open. */
export const unwantedBytesMax = 256 * 1024
/** Time for the rest of an unwanted body, or for the client to read the response and go. */
export const lingerMs = 2_000

/**
 * Sends `payload` at once and ends after it when the body has ended, at the latest after two seconds.
 * Ending at once, with bytes of the body unread, would reset the connection, and the client might
 * never see the response. Of the body only a little is read; then TCP stops the sender.
 */
export function lingering(payload: string, request: IncomingMessage): Readable {
  return Readable.from(payloadAndPause(payload, request), { objectMode: false })
}

async function* payloadAndPause(payload: string, request: IncomingMessage): AsyncGenerator<Buffer> {
  yield Buffer.from(payload)
  await endOfBody(request)
}

/** Reads past a body and resolves at its end, when the connection ends, after two seconds, or at tiny chunks. */
function endOfBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) {
      resolve()
      return
    }
    const isAcceptable = createChunkLimit()
    let bytes = 0
    const timer = setTimeout(end, lingerMs)
    function count(chunk: Buffer): void {
      bytes += chunk.length
      if (!isAcceptable(chunk)) end()
      else if (bytes > unwantedBytesMax) request.pause()
    }
    function end(): void {
      clearTimeout(timer)
      request.off('data', count).off('end', end).off('close', end)
      resolve()
    }
    request.on('data', count).once('end', end).once('close', end)
    request.resume()
  })
}
