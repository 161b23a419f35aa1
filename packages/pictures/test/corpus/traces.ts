import { inflateSync } from 'node:zlib'
import { hasTrace } from './planted.ts'

/** Whether a file has a trace of the planted text, even inside the compressed profile of a PNG. */
export function hasTraceInside(bytes: Buffer): boolean {
  const profile = bytes.toString('latin1', 0, 4) === '\x89PNG' ? bytes.indexOf('iCCP') : -1
  if (profile === -1) return hasTrace(bytes)
  const end = profile + 4 + bytes.readUInt32BE(profile - 4)
  const content = bytes.subarray(bytes.indexOf(0, profile + 4) + 2, end)
  return hasTrace(bytes) || hasTrace(inflateSync(content))
}
