import * as zlib from 'node:zlib'
import { createUuidV7, timeOfUuidV7 } from '@intake/contract'
import { decompress as decompressZstd } from 'fzstd'

/** Bytes of one coding concatenate to a valid stream, so an insert combines frames as they are. */
export const codings = ['gzip', 'zstd'] as const
export type Coding = (typeof codings)[number]

export interface Compressed {
  coding: Coding
  bytes: Buffer
}

/** The content of one queue job: rows of one kind and partition, as compressed NDJSON. */
export interface Frame extends Compressed {
  rows: number
  /** Length of the NDJSON in bytes, before compression: it determines what the insert costs. */
  jsonBytes: number
  /** The context of the frame, as in W3C Trace Context; absent if it is not traced. */
  traceparent?: string | undefined
}

export interface NewFrame extends Frame {
  /** When the frame's oldest record arrived, by the gateway's clock, in milliseconds since 1970. */
  receivedAtMs: number
}

const version = 2

/**
 * The job data: compressed bytes as base64 under the name of their coding, and their CRC-32.
 * `openFrame` ignores fields that it does not know, so neither an optional field nor a further
 * coding needs a new `v`.
 */
interface Envelope extends Partial<Record<Coding, string>> {
  v: typeof version
  rows: number
  jsonBytes: number
  crc32: number
  traceparent?: string | undefined
}

/** This version cannot read the job data. The job must be kept, never dropped. */
export class FrameError extends Error {
  override name = 'FrameError'
}

export function createFrame({ rows, jsonBytes, coding, bytes, traceparent }: Frame): Envelope {
  const content = { crc32: zlib.crc32(bytes), [coding]: bytes.toString('base64') }
  return { v: version, rows, jsonBytes, ...content, ...(traceparent && { traceparent }) }
}

/** @throws {FrameError} unknown version or coding, a missing field, or another checksum */
export function openFrame(data: unknown): Frame {
  if (typeof data !== 'object' || data === null) throw new FrameError('job data is not an object')
  const envelope = data as Partial<Envelope>
  if (envelope.v !== version) throw new FrameError('unknown frame version')
  const { rows, jsonBytes, traceparent } = envelope
  if (!isCount(rows) || !isCount(jsonBytes)) throw new FrameError('frame has no rows')
  const coding = codings.find((name) => typeof envelope[name] === 'string')
  if (coding === undefined) throw new FrameError('frame has no bytes of a known coding')
  const bytes = Buffer.from(envelope[coding]!, 'base64')
  if (zlib.crc32(bytes) !== envelope.crc32) throw new FrameError('frame checksum differs')
  const trace = typeof traceparent === 'string' && { traceparent }
  return { rows, jsonBytes, coding, bytes, ...trace }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/**
 * A UUIDv7 with the time of the oldest row, its number of rows and their bytes: a backlog is read
 * from ids alone (backlog.ts).
 */
export function createJobId({ receivedAtMs, rows, jsonBytes }: NewFrame): string {
  return `${createUuidV7(Math.max(0, receivedAtMs))}-${rows}-${jsonBytes}`
}

/** Arrival of the oldest row, in milliseconds since 1970; undefined if the id has no time. */
export function readJobTime(id: string): number | undefined {
  return /^[\da-f]{8}-[\da-f]{4}-7/.test(id) ? timeOfUuidV7(id) : undefined
}

/** Node has these functions from version 22.15 on. */
interface Zstd {
  zstdCompressSync?: (data: string | Buffer, options: { params: Record<number, number> }) => Buffer
  zstdDecompressSync?: (data: Buffer) => Buffer
}
const zstd: Zstd = zlib as Zstd

/** The number of the parameter `ZSTD_c_compressionLevel`. */
const zstdLevel = 100
/** As fast as level 1, with output up to 5 % smaller (docs/decisions/0006-hot-path.md). */
const gzipLevel = 2

/** Compresses as zstd, at a third of gzip's CPU time, or as gzip if this Node has no zstd. */
export function compress(data: string | Buffer): Compressed {
  const bytes = zstd.zstdCompressSync?.(data, { params: { [zstdLevel]: 1 } })
  if (bytes !== undefined) return { coding: 'zstd', bytes }
  return { coding: 'gzip', bytes: zlib.gzipSync(data, { level: gzipLevel }) }
}

/** Some versions of Node return the first part of cut bytes without an error (nodejs/node#64592). */
const reportsCutBytes = ((): boolean => {
  const whole = zstd.zstdCompressSync?.('a', { params: {} })
  try {
    if (whole !== undefined) zstd.zstdDecompressSync?.(whole.subarray(0, -1))
    return false
  } catch {
    return true
  }
})()

/**
 * Decompresses any coding on any Node, whose gateways may have a newer one.
 *
 * @throws {Error} when the bytes are damaged
 */
export function decompress({ coding, bytes }: Compressed): Buffer {
  if (coding === 'gzip') return zlib.gunzipSync(bytes)
  const native = reportsCutBytes ? zstd.zstdDecompressSync : undefined
  return native?.(bytes) ?? Buffer.from(decompressZstd(bytes))
}
