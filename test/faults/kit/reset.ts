import type { Socket } from 'node:net'

/**
 * Ends a connection with RST, unless its own end is on its way already: then by closing it. libuv
 * refuses to reset a socket that is being shut down (EINVAL), and Node then loses the handle and waits
 * for it when the process exits (seen with Node 20).
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy()
  else socket.resetAndDestroy()
}
