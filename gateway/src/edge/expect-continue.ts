import type { IncomingMessage, ServerResponse } from 'node:http'
import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { connections } from './exchange.ts'

const waiting = new WeakSet<IncomingMessage>()

/** Notes that the client sends the body only after `100 Continue`. */
export function awaitContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.add(request)
  // If the request is refused, the client may or may not send the body.
  response.setHeader('connection', 'close')
}

/**
 * Responds to `Expect: 100-continue` only when the body is wanted, so that a refused upload is not
 * sent.
 */
export const expectContinue = fp(
  async (app: FastifyInstance) => {
    app.addHook('preParsing', (request, reply, _payload, done) => {
      if (waiting.delete(request.raw) && !request.is404) {
        // While the server or the connection closes, the header must stay.
        const isEnding = connections.get(request.raw.socket)?.isEnding === true
        if (app.server.listening && !isEnding) reply.raw.removeHeader('connection')
        reply.raw.writeContinue()
      }
      done()
    })
  },
  { name: 'expect-continue' },
)
