import type { Socket } from 'node:net'

/**
 * Closes a connection with RST. If a shutdown of the connection is pending, closes it without RST:
 * libuv would refuse the reset (EINVAL), and Node 20 then leaks the handle and waits for it when
 * the process exits.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy()
  else socket.resetAndDestroy()
}
