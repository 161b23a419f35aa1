import type { Socket } from 'node:net'

/**
 * Ends a connection with RST. While a FIN is on its way it can only be closed: Node would report
 * EINVAL, lose the handle, and the process could never exit.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy()
  else socket.resetAndDestroy()
}
