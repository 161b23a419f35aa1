import { connect } from 'node:net'

export interface Answer {
  status: number
  body: Buffer
}

/** A keep-alive connection with at most one pending request. */
export interface Connection {
  /**
   * Sends a request, and resolves to its response. Rejects if the connection closes before the
   * response is complete, or after 30 s without data.
   */
  send(request: Buffer): Promise<Answer>
  close(): void
}

const headEnd = Buffer.from('\r\n\r\n')

/**
 * Connects an HTTP/1.1 client with only the features that a load generator needs: responses with
 * `content-length`, no redirects, no pipelining. The client must use little CPU, because it shares
 * the processors with the measured processes.
 */
export async function openConnection(
  port: number,
  { answerMs = 30_000 } = {},
): Promise<Connection> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let received: Buffer | undefined
  let pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  let problem = new Error('the connection was closed')

  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject)
  })
  socket.on('error', (error) => (problem = error))
  socket.setTimeout(answerMs, () => {
    // The timeout applies only to a pending response: between two requests, the connection may be
    // idle for longer.
    if (pending !== undefined) socket.destroy(new Error(`no response within ${answerMs} ms`))
  })
  socket.on('close', () => pending?.reject(problem))
  socket.on('data', (chunk: Buffer) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk])
    const answer = parseAnswer(received)
    if (answer === undefined) return
    received = undefined
    const settled = pending
    pending = undefined
    settled?.resolve(answer)
  })

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(problem)
        pending = { resolve, reject }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

function parseAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf(headEnd)
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const start = end + headEnd.length
  if (bytes.length < start + length) return undefined
  return {
    status: Number(head.slice(9, 12)),
    body: bytes.subarray(start, start + length),
  }
}
