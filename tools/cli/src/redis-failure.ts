import { describeRefusal, ReplyError } from '@intake/redis'

/** Says in words for an operator why Redis cannot be used. The text names Redis or its setting. */
export const explainRedis = (error: unknown): string =>
  error instanceof ReplyError
    ? describeReply(error)
    : `Redis cannot be reached: ${describeReply(error)}`

export function describeReply(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  // Many different errors have the code ERR, so only their text says what happened.
  if (error instanceof ReplyError && !message.startsWith('ERR ')) return describeRefusal(error)
  // If a host has several addresses, the error of connecting to it has a code and no message.
  return message || code || String(error)
}

/** The error of a command that has no connection to Redis. `error` is that of the connection. */
export const redisFailure = (error: unknown): Error =>
  new Error(explainRedis(error), { cause: error })
