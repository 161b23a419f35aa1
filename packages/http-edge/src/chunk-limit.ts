import { IntakeError } from '@intake/contract'

/**
 * This many chunks of a body may have any size. Further chunks must have `chunkBytesMin` bytes on
 * average.
 */
const freeChunks = 1_024
const chunkBytesMin = 16

/**
 * Limits the number of chunks of a body. The parser needs about two microseconds for each chunk,
 * even if it is tiny, and a read of 64 KB can contain eleven thousand chunks of one byte. A body in
 * tiny chunks would therefore delay all other requests.
 *
 * @returns a function that reports whether the body is still acceptable after this chunk
 */
export function createChunkLimit(): (chunk: Buffer) => boolean {
  let balance = freeChunks * chunkBytesMin
  return (chunk) => {
    balance += chunk.length - chunkBytesMin
    return balance >= 0
  }
}

export function chunksTooSmall(): IntakeError {
  return new IntakeError('body_too_large', 'The chunks of the body are too small.')
}
