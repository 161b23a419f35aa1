import type { Socket } from 'node:net'

/**
 * Closes a connection with RST, or without if a shutdown is already pending: libuv refuses to reset
 * a socket that is being shut down (EINVAL), and Node then leaks the handle and waits for it when
 * the process exits (seen with Node 20).
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy()
  else socket.resetAndDestroy()
}
