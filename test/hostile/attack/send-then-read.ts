import { setTimeout as pause } from 'node:timers/promises'
import type { Attacker } from '../hostile-case.ts'
import { connected, dial, ended, written } from './connection.ts'
import { head, json } from './http-text.ts'

/**
 * Sends a body of 208 KB, over 0.6 s or at once. Reads the response only afterwards, as blocking
 * clients do. Resolves to the status of the response, or to '' if there was none.
 */
export async function sendThenRead(attacker: Attacker, gradually: boolean): Promise<string> {
  const pieces = 13
  const piece = Buffer.alloc(16 * 1024, ' ')
  const socket = dial(attacker)
  if (!(await connected(socket))) return ''
  const length = { 'content-length': pieces * piece.length }
  await written(socket, head('POST /api/log', { ...json, ...length, 'x-api-key': 'wrong' }))
  for (let sent = 0; sent < pieces; sent++) {
    if (!(await written(socket, piece))) return ''
    if (gradually) await pause(50)
  }
  const response = new Promise<string>((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString('latin1').slice(9, 12)))
  })
  const status = await Promise.race([response, ended(socket).then(() => '')])
  socket.destroy()
  return status
}
