import { STATUS_CODES, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { closeInStages, discardRest } from '@intake/runtime'

/** As on the public port of a gateway: real clients send one request after the other. */
const pipelinedMax = 4

/** The responses due on each connection of one server. */
export interface Pipelines {
  /**
   * Closes a connection that has more than four requests without a response. Node parses a thousand
   * requests from one read, and all other work of the process would wait for them.
   */
  limit(serve: RequestListener): RequestListener
  /** Takes note of the reply of a request, first of all hooks. */
  begin(reply: FastifyReply): void
  /**
   * Ends a connection on which something cannot be parsed: after the responses to the requests
   * before it, or, if there are none, with 408, 431 or 400.
   */
  answerClientError(error: NodeJS.ErrnoException, socket: Socket): void
}

export function createPipelines(): Pipelines {
  const inFlight = new WeakMap<Socket, Set<ServerResponse>>()
  const replies = new WeakMap<ServerResponse, FastifyReply>()

  return {
    limit(serve) {
      return (request, response) => {
        const { socket } = request
        // Requests that were read before the connection was closed.
        if (socket.destroyed) return
        const due = inFlight.get(socket) ?? new Set()
        inFlight.set(socket, due)
        if (due.size === pipelinedMax) {
          socket.destroy()
          return
        }
        due.add(response)
        response.once('close', () => due.delete(response))
        serve(request, response)
      }
    },

    begin: (reply) => void replies.set(reply.raw, reply),

    answerClientError(error, socket) {
      if (socket.destroyed || socket.writableEnded) return
      const last = [...(inFlight.get(socket) ?? [])].at(-1)
      if (last !== undefined) {
        socket.destroySoon = () => closeInStages(socket)
        discardRest(socket)
        if (last.headersSent) last.once('close', () => closeInStages(socket))
        else {
          last.setHeader('connection', 'close')
          if (!last.req.complete) void replies.get(last)?.code(statusOf(error.code)).send()
        }
        return
      }
      if (error.code !== 'ECONNRESET' && error.code !== 'HPE_INVALID_EOF_STATE') {
        const status = statusOf(error.code)
        socket.write(
          `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
            'Content-Length: 0\r\nConnection: close\r\n\r\n',
        )
      }
      closeInStages(socket)
    },
  }
}

function statusOf(code: string | undefined): number {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case 'HPE_HEADER_OVERFLOW':
      return 431
    default:
      return 400
  }
}
