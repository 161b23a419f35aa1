import type { Socket } from 'node:net'

/**
 * After a refusal, a body of up to this size is read and discarded, so that the connection can
 * remain open.
 */
export const unwantedBytesMax = 256 * 1024
/**
 * After the last request of a connection, about this many further bytes are read and discarded:
 * most bodies to their end. A client that reads only after sending would lose its response when the
 * connection is reset, and HAProxy stops all streams of an HTTP/2 client until then.
 */
const lingerBytesMax = 8 * 1024 * 1024
/** The timeout for the rest of an unwanted body, and for a client to read its last response. */
export const lingerMs = 2_000

/**
 * Discards what still arrives on a connection, so that the HTTP parser sees none of it. Reads only
 * slightly more than `lingerBytesMax` bytes; then TCP stops the sender. The pauses let other
 * connections take turns: Node would read two megabytes in a row.
 */
export function discardRest(socket: Socket): void {
  let bytes = 0
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    socket.pause()
    if (bytes <= lingerBytesMax) setImmediate(() => socket.resume())
  })
  // Node's HTTP server has stopped reading if the request's buffer is full, and with a listener for
  // `data` it no longer starts again. The empty chunk ends the read that never comes.
  socket.push('')
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
