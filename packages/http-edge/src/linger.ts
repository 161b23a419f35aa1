import type { Socket } from 'node:net'

/**
 * After a refusal, a body of up to this size is read and discarded, so that the connection can
 * remain open. After the last request of a connection, about this many further bytes are read
 * and discarded.
 */
export const unwantedBytesMax = 256 * 1024
/** The timeout for the rest of an unwanted body, and for a client to read its last response. */
export const lingerMs = 2_000

/**
 * Discards what still arrives on a connection, so that the HTTP parser sees none of it. Reads only
 * slightly more than `unwantedBytesMax` bytes; then TCP stops the sender.
 */
export function discardRest(socket: Socket): void {
  let bytes = 0
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > unwantedBytesMax) socket.pause()
  })
  socket.resume()
}

/**
 * Closes a connection in stages (RFC 9112, section 9.6): first this process's half, after the data
 * that was written to it; then the whole connection, when the client has closed its half or two
 * seconds have passed. Closing at once, with unread bytes, would reset the connection, and the
 * client might never see the response. Has no effect on a connection that is already closing.
 */
export function closeInStages(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return
  discardRest(socket)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
  socket.end()
}
