import type { Attacker } from '../hostile-case.ts'
import { connected, dial, ended, written } from './connection.ts'
import { repeat, wait } from './loops.ts'

const piece = Buffer.alloc(256 * 1024, '1')
const piecePauseMs = 25
const lanes = 4

/**
 * What the attack observed. `bytesMax` is the number of bytes that the busiest connection sent.
 * `openMsMax` is the longest time for which a connection remained open after its response.
 */
export type Endless = Record<'sent' | 'refused' | 'bytesMax' | 'openMsMax', number>

/** Sends endless bodies, up to 10 MB a second per connection, and does not stop at a response. */
export async function sendEndlessBodies(
  attacker: Attacker,
  options: { header: string; chunked?: boolean },
): Promise<Endless> {
  const { header, chunked = false } = options
  const { signal } = attacker
  const seen: Endless = { sent: 0, refused: 0, bytesMax: 0, openMsMax: 0 }
  const chunk = chunked
    ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
    : piece

  await repeat({ lanes, pauseMs: 100, signal }, async () => {
    const socket = dial(attacker, { allowHalfOpen: true })
    if (!(await connected(socket))) return
    seen.sent++
    let respondedAt = Infinity
    let endedAt = Infinity
    socket.once('data', (response) => {
      respondedAt = performance.now()
      if (/^HTTP\/1\.1 4\d\d/.test(response.toString('latin1'))) seen.refused++
    })
    socket.resume()
    void ended(socket).then(() => (endedAt = performance.now()))
    await written(socket, header)
    while (!signal.aborted && (await written(socket, chunk))) await wait(piecePauseMs, signal)
    const openMs = Math.min(endedAt, performance.now()) - respondedAt
    seen.bytesMax = Math.max(seen.bytesMax, socket.bytesWritten)
    seen.openMsMax = Math.max(seen.openMsMax, Math.round(openMs))
  })
  return seen
}
