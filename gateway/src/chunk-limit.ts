import { IntakeError } from '@intake/contract'

/** So many chunks may be of any size; what is beyond them must have so many bytes on average. */
const freeChunks = 1_024
const chunkBytesMin = 16

/**
 * Counts the chunks of a body. Each costs the parser about two microseconds whatever its size, and a
 * read of 64 KB holds eleven thousand of one byte, so a body in tiny chunks would hold up all others.
 *
 * @returns whether the body is still acceptable after this chunk
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
