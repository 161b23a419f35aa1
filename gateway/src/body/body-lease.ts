import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireApiKey, requireLease } from '../request.ts'
import type { ByteBudget } from './byte-budget.ts'
import { exchangeOf, failable, whenEnded } from '@intake/http-edge'
import { bodyTooLarge } from './read-body.ts'

/**
 * A body that exceeds its limit is read and discarded up to this multiple of the limit. Without a
 * maximum, an endless form would indefinitely occupy one of the places for requests in flight.
 */
const readPastFactor = 8

/**
 * Creates a hook that opens the lease of a request before its body is read. The lease is released
 * when the response has been sent or the connection has ended. If the handler is wrapped by
 * `whileLeased`, the release also waits until the handler has finished.
 *
 * @param readsPast whether bytes beyond `bodyBytesMax` are read and discarded
 * @throws {IntakeError} `body_too_large` for a declared length over `bodyBytesMax`, except if
 * `readsPast` returns true; `busy` when the budget has no room for the request now
 */
export function leaseBody(
  budget: ByteBudget,
  bodyBytesMax: number,
  readsPast: (request: FastifyRequest) => boolean = () => false,
) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > bodyBytesMax && !readsPast(request)) throw bodyTooLarge(bodyBytesMax)
    const lease = budget.lease({
      account: requireApiKey(request).id,
      expectedBytes: Math.min(declared, bodyBytesMax),
    })
    request.bodyLease = lease
    whenEnded(request.raw, reply.raw, lease.release)
    const exchange = exchangeOf(request.raw)
    if (exchange !== undefined) exchange.bodyBytesMax = bodyBytesMax * readPastFactor
    done()
  }
}

/**
 * Wraps a handler so that the bytes of the body remain leased until the handler has finished,
 * because the handler uses the memory even after the client has disconnected. When the handler
 * takes too long, the request fails, but the handler keeps running and its bytes remain leased.
 */
export function whileLeased<Request extends FastifyRequest, Result>(
  handler: (request: Request, reply: FastifyReply) => Promise<Result>,
) {
  return (request: Request, reply: FastifyReply): Promise<Result> =>
    failable(request.raw, requireLease(request).retainWhile(handler(request, reply)))
}
