import type { FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import { beginStep } from '@intake/http-edge'
import type { ByteLease } from '../request.ts'

/**
 * Reads the body of a request to its end, and charges each chunk to the byte budget as it arrives.
 * The `bodyLimit` of the route is the maximum size.
 *
 * @param lease is charged
 * @param done called once, with the body or an error: `body_too_large`, `busy`, or (if the body
 * ends early) `malformed_http`
 */
export function readBody(
  request: FastifyRequest,
  lease: ByteLease,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const { raw } = request
  const bytesMax = request.routeOptions.bodyLimit
  const kept: Buffer[] = []
  let bytes = 0
  let isOver = false

  function onData(chunk: Buffer): void {
    bytes += chunk.length
    try {
      if (bytes > bytesMax) throw bodyTooLarge(bytesMax)
      if (areChunksTooSmall(kept.length + 1, bytes)) throw chunksTooSmall()
      lease.extend(chunk.length)
    } catch (error) {
      fail(error as Error)
      return
    }
    kept.push(chunk)
  }
  function onEnd(): void {
    if (isOver) return
    isOver = true
    done(null, kept.length === 1 ? kept[0] : Buffer.concat(kept, bytes))
  }
  // This listener also runs after a normal end, and then does nothing. Removing it at the end would
  // cost more.
  function onClose(): void {
    if (!isOver) fail(new IntakeError('malformed_http', 'The body ended early.'))
  }
  function fail(error: Error): void {
    if (isOver) return
    isOver = true
    kept.length = 0
    raw.off('data', onData)
    done(error)
  }
  raw.on('data', onData).on('end', onEnd).on('close', onClose)
  const { exchange } = request
  if (exchange !== undefined) beginStep(exchange, fail)
}

export function bodyTooLarge(bytesMax: number): IntakeError {
  return new IntakeError('body_too_large', `The body must not exceed ${bytesMax} bytes.`)
}

/** Further chunks must have `chunkBytesMin` bytes on average. */
const freeChunks = 1_024
const chunkBytesMin = 16

/**
 * Whether a body has arrived in too many small chunks. The parser needs about two microseconds for
 * each chunk, even if it is tiny, and a read of 64 KB can contain eleven thousand chunks of one byte.
 * A body in tiny chunks would therefore delay all other requests.
 */
export const areChunksTooSmall = (chunks: number, bytes: number): boolean =>
  bytes < (chunks - freeChunks) * chunkBytesMin

export function chunksTooSmall(): IntakeError {
  return new IntakeError('body_too_large', 'The chunks of the body are too small.')
}
