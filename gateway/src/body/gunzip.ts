import { createGunzip, gunzipSync } from 'node:zlib'
import { IntakeError } from '@intake/contract'
import type { TakeTurn } from '@intake/http-edge'
import { Chunks } from './chunks.ts'

const chunkBytes = 64 * 1024
/**
 * How many times larger a body may become by decompression. Batches of similar events with ids and
 * times become 15 to 140 times larger, batches of identical events 150 times. A body that becomes
 * larger was built to exhaust memory.
 */
const expansionMax = 200
/** A body may become this large even if it was much smaller before. */
const expansionFreeBytes = 64 * 1024
/**
 * A body is decompressed in one call if it has at most this size, both compressed and decompressed.
 * One call usually takes 0.3 ms; a stream would cost several times as much. The compressed size is
 * limited too, because decompressing empty blocks takes up to 25 ms although there is no output.
 */
const atOnceBytes = 64 * 1024
/**
 * A larger body waits for a turn before it is decompressed in one call. Most bodies are smaller; one
 * of this size takes up to 1.5 milliseconds.
 */
const withoutTurnBytes = 4 * 1024
/** Gzip data ends with the size after decompression, modulo 2^32, in four bytes (RFC 1952). */
const sizeBytes = 4
const damageCodes: ReadonlySet<unknown> = new Set(['Z_DATA_ERROR', 'Z_BUF_ERROR'])

interface Unzipping {
  bytesMax: number
  /** Runs work that may take some milliseconds. */
  takeTurn: TakeTurn
  /** Runs work in the thread pool that may take some milliseconds. */
  takePooled: (work: () => Promise<void>) => Promise<void>
  /** Called with each chunk; may throw. */
  onChunk: (chunk: Buffer) => void
}

/**
 * Decompresses gzip. A large body is decompressed in chunks, and only up to the first chunk that
 * exceeds the limit.
 *
 * @throws {IntakeError} `body_too_large`, `invalid_encoding`
 */
export async function gunzip(body: Buffer, options: Unzipping): Promise<Buffer> {
  const { bytesMax, takeTurn, onChunk } = options
  const expandedMax = Math.min(bytesMax, expansionFreeBytes + expansionMax * body.length)
  const unzip = () => gunzipAtOnce(body, Math.min(expandedMax, atOnceBytes))
  const isDear = body.length > withoutTurnBytes && body.length <= atOnceBytes
  const atOnce = isDear ? await takeTurn(unzip) : unzip()
  if (atOnce === undefined) return gunzipInPieces(body, expandedMax, options)
  onChunk(atOnce)
  return atOnce
}

/** Each piece of `atOnceBytes` has a turn of its own. */
async function gunzipInPieces(
  body: Buffer,
  expandedMax: number,
  { bytesMax, takePooled, onChunk }: Unzipping,
): Promise<Buffer> {
  const stream = createGunzip({ chunkSize: chunkBytes })
  const chunks = new Chunks({ bytesMax: expandedMax, onKeep: onChunk })
  stream.on('data', (chunk: Buffer) => {
    try {
      if (!chunks.add(chunk)) throw tooLarge(bytesMax)
    } catch (error) {
      stream.destroy(error as Error)
    }
  })
  const end = new Promise<void>((resolve, reject) => {
    stream.once('end', resolve).once('error', reject)
  })
  const write = (piece: Buffer) =>
    new Promise<void>((resolve) => stream.write(piece, () => resolve()))
  try {
    for (let at = 0; at < body.length; at += atOnceBytes) {
      const piece = body.subarray(at, at + atOnceBytes)
      await takePooled(() => Promise.race([end, write(piece)]))
    }
    stream.end()
    await end
  } catch (cause) {
    // Any other error is no fault of the body: a client must not discard its records because of it.
    if (!damageCodes.has((cause as { code?: unknown }).code)) throw cause
    throw new IntakeError('invalid_encoding', 'The gzip stream is damaged or cut short.', { cause })
  } finally {
    stream.destroy()
  }
  return chunks.concat()
}

/** Returns undefined if the body is large or damaged, or exceeds `bytesMax` after decompression. */
function gunzipAtOnce(body: Buffer, bytesMax: number): Buffer | undefined {
  if (body.length < sizeBytes || body.length > atOnceBytes) return undefined
  const bytes = body.readUInt32LE(body.length - sizeBytes)
  if (bytes > bytesMax) return undefined
  try {
    // The buffer is one byte larger than the result, so that zlib notices the end without another
    // buffer.
    return gunzipSync(body, { chunkSize: Math.max(bytes + 1, 64), maxOutputLength: bytesMax })
  } catch {
    // The caller decompresses the body again as a stream, which gives the exact error.
    return undefined
  }
}

function tooLarge(bytesMax: number): IntakeError {
  const detail =
    `After decompression: at most ${bytesMax} bytes, and at most ` +
    `${expansionMax} times the compressed size plus ${expansionFreeBytes}.`
  return new IntakeError('body_too_large', detail)
}
