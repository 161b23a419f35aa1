import type { Socket } from 'node:net'

/**
 * Closes a connection with RST. If a shutdown is already pending, closes it without RST, because
 * libuv refuses to reset such a socket (EINVAL), and Node then leaks the handle and waits for it
 * when the process exits (seen with Node 20).
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy()
  else socket.resetAndDestroy()
}
