import { crc32 } from 'node:zlib'

/**
 * The content of one queue job: rows of one kind and one partition, as one gzip member of NDJSON.
 * Members concatenate to a valid gzip stream, so an insert can combine many frames without
 * decompressing them.
 */
export interface Frame {
  rows: number
  /** Length of the NDJSON in bytes, before compression: it determines what the insert costs. */
  jsonBytes: number
  gzip: Buffer
  /**
   * The trace context of the frame, as `traceparent` of W3C Trace Context; absent if it is not
   * traced.
   */
  traceparent?: string | undefined
}

/** A frame that is not in the queue yet. */
export interface NewFrame extends Frame {
  /** When the frame's oldest record arrived, by the gateway's clock, in milliseconds since 1970. */
  receivedAtMs: number
}

const version = 2

/**
 * The job data of a frame: plain JSON with the gzip bytes as base64 and their CRC-32. `openFrame`
 * ignores fields that it does not know, so a further optional field needs no new `v`.
 */
interface Envelope {
  v: typeof version
  rows: number
  jsonBytes: number
  crc32: number
  gzip: string
  traceparent?: string | undefined
}

/**
 * Thrown when this version cannot read the job data as a frame. The job must be kept, never
 * dropped.
 */
export class FrameError extends Error {
  override name = 'FrameError'
}

export function createFrame({ rows, jsonBytes, gzip, traceparent }: Frame): Envelope {
  const bytes = { crc32: crc32(gzip), gzip: gzip.toString('base64') }
  return { v: version, rows, jsonBytes, ...bytes, ...(traceparent && { traceparent }) }
}

/**
 * @throws {FrameError} when the version is unknown, a field is missing, or the checksum differs.
 */
export function openFrame(data: unknown): Frame {
  if (typeof data !== 'object' || data === null) throw new FrameError('job data is not an object')
  const envelope = data as Partial<Envelope>
  if (envelope.v !== version) throw new FrameError('unknown frame version')
  const { rows, jsonBytes, traceparent } = envelope
  if (!isCount(rows) || !isCount(jsonBytes) || typeof envelope.gzip !== 'string') {
    throw new FrameError('frame has no rows or no bytes')
  }
  const gzip = Buffer.from(envelope.gzip, 'base64')
  if (crc32(gzip) !== envelope.crc32) throw new FrameError('frame checksum differs')
  return { rows, jsonBytes, gzip, ...(typeof traceparent === 'string' && { traceparent }) }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)
