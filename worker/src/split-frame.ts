import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Frame } from '@intake/contract'

const decompress = promisify(gunzip)
const compress = promisify(gzip)

/** The rows of a frame, each one line of JSON. */
export async function rowsOf(frame: Frame): Promise<string[]> {
  return (await decompress(frame.gzip)).toString().split('\n').filter(Boolean)
}

/** Two frames that together hold the rows of one with at least two rows, byte for byte. */
export async function splitFrame(frame: Frame): Promise<Frame[]> {
  const rows = await rowsOf(frame)
  const half = Math.ceil(rows.length / 2)
  return Promise.all(
    [rows.slice(0, half), rows.slice(half)].map(async (part) => ({
      rows: part.length,
      gzip: await compress(part.map((row) => `${row}\n`).join(''), { level: 1 }),
    })),
  )
}
