import { IntakeError } from '@intake/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface ByteBudget {
  /**
   * Takes `bytes` out of the budget; the returned function gives them back, once.
   *
   * @throws {IntakeError} `busy` when they are not there
   */
  reserve(bytes: number): () => void
}

/** One budget for the request bodies of one kind that a process holds in memory. */
export function createByteBudget(bytesMax: number): ByteBudget {
  let free = bytesMax
  return {
    reserve(bytes) {
      if (bytes > free) throw new IntakeError('busy', 'Too many bytes are in flight.')
      free -= bytes
      let held = bytes
      return () => {
        free += held
        held = 0
      }
    },
  }
}

/**
 * A hook that reserves what a body can take, its declared length or else the most there can be,
 * before a byte of it is read, and gives it back when the response has ended, however it ended.
 *
 * @throws {IntakeError} `body_too_large` for a declared length over `bodyBytesMax`, `busy`
 */
export function holdBody(budget: ByteBudget, bodyBytesMax: number) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const declared = request.headers['content-length']
    const bytes = declared === undefined ? bodyBytesMax : Number(declared)
    if (bytes > bodyBytesMax) {
      throw new IntakeError('body_too_large', `The body must not exceed ${bodyBytesMax} bytes.`)
    }
    reply.raw.once('close', budget.reserve(bytes))
  }
}
