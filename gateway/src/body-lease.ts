import type { FastifyReply, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'
import type { ByteBudget, ByteLease } from './byte-budget.ts'
import { exchangeOf, failable, whenEnded } from './exchange.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What this request takes out of a budget; set by `leaseBody`. */
    bodyLease: ByteLease
  }
}

/** What is read past ends somewhere: a form without end would hold its place for ever. */
const readPastFactor = 8

/**
 * A hook that opens the account of a request before a byte of its body is read, and closes it when the
 * response has been sent or the connection has ended (`whileLeased`: not before the handler).
 *
 * @param readsPast whether what is over `bodyBytesMax` is read and not kept
 * @throws {IntakeError} `body_too_large` for a declared length over `bodyBytesMax`; `busy` when so
 * much would not fit now
 */
export function leaseBody(
  budget: ByteBudget,
  bodyBytesMax: number,
  readsPast: (request: FastifyRequest) => boolean = () => false,
) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > bodyBytesMax && !readsPast(request)) throw bodyTooLarge(bodyBytesMax)
    request.bodyLease = budget.lease({
      account: request.apiKey.id,
      expectedBytes: Math.min(declared, bodyBytesMax),
    })
    whenEnded(request.raw, reply.raw, request.bodyLease.release)
    const exchange = exchangeOf(request.raw)
    if (exchange !== undefined) exchange.bodyBytesMax = bodyBytesMax * readPastFactor
    done()
  }
}

/**
 * A handler during which the bytes of the body stay leased: a client that goes away frees no memory.
 * When it takes too long, the request fails and the handler goes on, still leased.
 */
export function whileLeased<Request extends FastifyRequest, Result>(
  handler: (request: Request, reply: FastifyReply) => Promise<Result>,
) {
  return (request: Request, reply: FastifyReply): Promise<Result> =>
    failable(request.raw, request.bodyLease.retainWhile(handler(request, reply)))
}

export function bodyTooLarge(bytesMax: number): IntakeError {
  return new IntakeError('body_too_large', `The body must not exceed ${bytesMax} bytes.`)
}
