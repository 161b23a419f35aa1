import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'

const waiting = new WeakSet<IncomingMessage>()

/** Notes that the client sends the body only after `100 Continue`. */
export function awaitContinue(request: IncomingMessage): void {
  waiting.add(request)
}

/**
 * Whether the client still waits for `100 Continue`. If the request is refused, the client may or
 * may not send the body.
 */
export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request)
}

/**
 * Responds to `Expect: 100-continue` only when the body is wanted, so that a refused upload is not
 * sent.
 */
export const expectContinue = fp(
  async (app: FastifyInstance) => {
    app.addHook('preParsing', (request, reply, _payload, done) => {
      if (!request.is404 && waiting.delete(request.raw)) reply.raw.writeContinue()
      done()
    })
  },
  { name: 'expect-continue' },
)
