import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'

const waiting = new WeakSet<IncomingMessage>()

/** Notes that the client sends the body only after `100 Continue`. */
export function awaitContinue(request: IncomingMessage): void {
  waiting.add(request)
}

/**
 * Whether the client still waits for `100 Continue`. If such a request is refused, it is not known
 * whether the client will send the body.
 */
export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request)
}

/**
 * Sends `100 Continue` only when the body is wanted, so that clients do not send the body of a
 * refused request.
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
