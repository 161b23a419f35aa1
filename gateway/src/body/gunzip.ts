import { createGunzip } from 'node:zlib'
import { IntakeError } from '@intake/contract'
import { Chunks } from './chunks.ts'

const chunkBytes = 64 * 1024
/**
 * Batches of similar events with ids and times compress 15 to 140 times, batches of identical
 * events 150 times. Anything that compresses better was built to exhaust memory.
 */
const expansionMax = 200
/** A decompressed body of up to this size is always allowed. */
const expansionFreeBytes = 64 * 1024

/**
 * Decompresses gzip in chunks, and stops at the first chunk over the limit.
 *
 * @param options.onChunk called with each chunk; may throw
 * @throws {IntakeError} `body_too_large`, `invalid_encoding`
 */
export async function gunzip(
  body: Buffer,
  options: { bytesMax: number; onChunk: (chunk: Buffer) => void },
): Promise<Buffer> {
  const { bytesMax, onChunk } = options
  const expandedMax = Math.min(bytesMax, expansionFreeBytes + expansionMax * body.length)
  const stream = createGunzip({ chunkSize: chunkBytes })
  stream.end(body)
  const chunks = new Chunks({ bytesMax: expandedMax, onKeep: onChunk })
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (!chunks.add(chunk)) throw tooLarge(bytesMax)
    }
  } catch (cause) {
    if (cause instanceof IntakeError) throw cause
    throw new IntakeError('invalid_encoding', 'The gzip stream is damaged or cut short.', { cause })
  }
  return chunks.concat()
}

function tooLarge(bytesMax: number): IntakeError {
  const detail =
    `After decompression: at most ${bytesMax} bytes, and at most ` +
    `${expansionMax} times the compressed size plus ${expansionFreeBytes}.`
  return new IntakeError('body_too_large', detail)
}
