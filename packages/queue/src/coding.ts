import * as zlib from 'node:zlib'
import { decompress as decompressZstd } from 'fzstd'

/**
 * How bytes are compressed. Compressed bytes of one coding concatenate to a valid stream, so an
 * insert can combine many frames without decompressing them.
 */
export const codings = ['gzip', 'zstd'] as const
export type Coding = (typeof codings)[number]

export interface Compressed {
  coding: Coding
  bytes: Buffer
}

/** Node has these functions from version 22.15 on. */
interface Zstd {
  zstdCompressSync?: (data: string | Buffer, options: { params: Record<number, number> }) => Buffer
  zstdDecompressSync?: (data: Buffer) => Buffer
}
const zstd: Zstd = zlib as Zstd

/** The number of the parameter `ZSTD_c_compressionLevel`. */
const zstdLevel = 100
/**
 * Level 2 of gzip is as fast as level 1, and its output is up to 5 % smaller
 * (docs/decisions/0006-hot-path.md).
 */
const gzipLevel = 2

/**
 * Compresses as zstd, which costs a third of gzip's CPU time, or as gzip if this Node has no zstd.
 */
export function compress(data: string | Buffer): Compressed {
  const bytes = zstd.zstdCompressSync?.(data, { params: { [zstdLevel]: 1 } })
  if (bytes !== undefined) return { coding: 'zstd', bytes }
  return { coding: 'gzip', bytes: zlib.gzipSync(data, { level: gzipLevel }) }
}

/**
 * Decompresses any coding on any Node; zstd in JavaScript if this Node has no zstd, because its
 * gateways may be of a newer one.
 *
 * @throws {Error} when the bytes are damaged
 */
export function decompress({ coding, bytes }: Compressed): Buffer {
  if (coding === 'gzip') return zlib.gunzipSync(bytes)
  return zstd.zstdDecompressSync?.(bytes) ?? Buffer.from(decompressZstd(bytes))
}
