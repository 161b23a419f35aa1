import type { FastifyReply, FastifyRequest } from 'fastify'
import { IntakeError } from '@intake/contract'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the body of this request takes out of a budget; set by `holdBody`. */
    bodyHold: ByteHold
  }
}

export interface ByteBudget {
  /**
   * Takes `bytes` out of the budget.
   *
   * @throws {IntakeError} `busy` when they are not there
   */
  hold(bytes: number): ByteHold
}

export interface ByteHold {
  /**
   * Takes `bytes` more.
   *
   * @throws {IntakeError} `busy` when they are not there; `malformed_http` after `release`, for then
   * the client has gone and the work on its request should end
   */
  grow(bytes: number): void
  /** Takes as many of `bytes` that have arrived as were not held before they came; throws as `grow`. */
  arrive(bytes: number): void
  /** Gives all of them back, but not during work that keeps them; may be called again. */
  release(): void
  /** Keeps the bytes until `work` has settled, also when they are released meanwhile. */
  keepDuring<Result>(work: Promise<Result>): Promise<Result>
}

/** One budget for the request bodies of one kind that a process holds in memory. */
export function createByteBudget(bytesMax: number): ByteBudget {
  let free = bytesMax

  return {
    hold(first) {
      let held = 0
      let ahead = first
      let released = false
      let working = 0
      const grow = (bytes: number) => {
        if (released) throw new IntakeError('malformed_http', 'The client has gone.')
        if (bytes > free) throw new IntakeError('busy', 'Too many bytes are in flight.')
        free -= bytes
        held += bytes
      }
      const giveBack = () => {
        if (!released || working > 0) return
        free += held
        held = 0
      }
      grow(first)
      return {
        grow,
        arrive(bytes) {
          const awaited = Math.min(bytes, ahead)
          ahead -= awaited
          grow(bytes - awaited)
        },
        release() {
          released = true
          giveBack()
        },
        async keepDuring(work) {
          working++
          try {
            return await work
          } finally {
            working--
            giveBack()
          }
        },
      }
    },
  }
}

/** A handler during which the bytes of the body stay held: a client that goes away frees no memory. */
export function withHeldBody<Request extends FastifyRequest, Result>(
  handler: (request: Request, reply: FastifyReply) => Promise<Result>,
) {
  return (request: Request, reply: FastifyReply): Promise<Result> =>
    request.bodyHold.keepDuring(handler(request, reply))
}

/**
 * A hook that holds the declared length of a body before a byte of it is read, and gives it back when
 * the response has ended, however it ended (`withHeldBody`: not before the handler). A body of unknown
 * length holds nothing yet: whoever reads it takes what arrives.
 *
 * @param readsPast whether what is over `bodyBytesMax` is read and not kept
 * @throws {IntakeError} `body_too_large` for a declared length over `bodyBytesMax`, `busy`
 */
export function holdBody(
  budget: ByteBudget,
  bodyBytesMax: number,
  readsPast: (request: FastifyRequest) => boolean = () => false,
) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > bodyBytesMax && !readsPast(request)) {
      throw new IntakeError('body_too_large', `The body must not exceed ${bodyBytesMax} bytes.`)
    }
    request.bodyHold = budget.hold(Math.min(declared, bodyBytesMax))
    reply.raw.once('close', request.bodyHold.release)
    done()
  }
}
