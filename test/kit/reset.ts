import type { Socket } from 'node:net'

/**
 * Closes a connection with RST, or without RST if a shutdown of the connection is pending. In that
 * case libuv would refuse the reset (EINVAL). Node 20 would then leak the handle, and wait for it
 * when the process exits.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy()
  else socket.resetAndDestroy()
}
