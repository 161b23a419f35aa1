import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { createChunkLimit } from './chunk-limit.ts'

/**
 * After a refusal, a body of up to this size is read and discarded so that the connection can stay
 * open.
 */
export const unwantedBytesMax = 256 * 1024
/** Timeout for the rest of an unwanted body, or for the client to read the response and disconnect. */
export const lingerMs = 2_000

/**
 * Sends `payload` at once, and ends the stream when the body has ended, after two seconds at the
 * latest. Ending it at once, with unread bytes of the body, would reset the connection, and the client
 * might never see the response. Only a little of the body is read; then TCP stops the sender.
 */
export function lingering(payload: string, request: IncomingMessage): Readable {
  return Readable.from(payloadAndPause(payload, request), { objectMode: false })
}

async function* payloadAndPause(payload: string, request: IncomingMessage): AsyncGenerator<Buffer> {
  yield Buffer.from(payload)
  await endOfBody(request)
}

/**
 * Discards a body. Resolves when it ends, when the connection closes, after two seconds, or when chunks
 * are tiny.
 */
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
