import type { FastifyReply } from 'fastify'

/** Calls `end` once the response has been sent or its connection is gone. */
export function onceClosed({ raw }: Pick<FastifyReply, 'raw'>, end: () => void): void {
  if (raw.closed) end()
  else raw.once('close', end)
}

/** Destroys the connection if the response has not been sent within the timeout. */
export function cutOffAfter(timeoutMs: number, reply: Pick<FastifyReply, 'raw'>): void {
  const timer = setTimeout(() => reply.raw.destroy(), timeoutMs)
  onceClosed(reply, () => clearTimeout(timer))
}
