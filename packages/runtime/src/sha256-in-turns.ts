import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The number of bytes that are hashed in about a millisecond. */
const bytesPerTurn = 1024 * 1024

/** Returns the hash of a file in hexadecimal. Other work runs between two parts of it. */
export async function sha256InTurns(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += bytesPerTurn) {
    if (at > 0) await nextTurn()
    hash.update(bytes.subarray(at, at + bytesPerTurn))
  }
  return hash.digest('hex')
}
