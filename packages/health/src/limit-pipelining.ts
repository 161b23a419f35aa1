import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** As on the public port of a gateway: real clients send one request after the other. */
const pipelinedMax = 4

/**
 * Closes a connection that has more than four requests without a response. Node parses a thousand requests from one
 * read, and all other work of the process would wait for them.
 */
export function limitPipelining(serve: RequestListener): RequestListener {
  const inFlight = new WeakMap<Socket, number>()
  const count = (socket: Socket, by: number) => {
    const sum = (inFlight.get(socket) ?? 0) + by
    inFlight.set(socket, sum)
    return sum
  }

  return (request, response) => {
    const { socket } = request
    // Requests that were read before the connection was closed.
    if (socket.destroyed) return
    if (count(socket, 1) > pipelinedMax) {
      socket.destroy()
      return
    }
    response.once('close', () => count(socket, -1))
    serve(request, response)
  }
}
