import type { Redis } from './connect.ts'
import { isConnected } from './servers.ts'
import { causeOf } from './cluster/errors.ts'

/**
 * Makes a command reject at once while there is no connection. A connection of role `consumer`
 * would queue such commands, and run them all later.
 */
export function whileConnected<Args extends unknown[], Result>(
  redis: Pick<Redis, 'status'>,
  command: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    if (redis.status !== 'ready') throw new Error('not connected to Redis')
    return command(...args)
  }
}

/** Leaves out what fails while there is no connection, because the connection reports that itself. */
export const reportWhileConnected =
  <Failure>(redis: Pick<Redis, 'status'>, report: (error: Failure) => void) =>
  (error: Failure): void => {
    if (redis.status === 'ready') report(error)
  }

/** Returns a function that says why there is no connection, in words for an operator. */
export function createConnectionCheck(redis: Redis): () => string | undefined {
  let lastError: Error | undefined
  const fail = (error: Error) => (lastError = causeOf(error))
  redis.on('error', fail)
  redis.on('node error', fail)
  redis.on('ready', () => (lastError = undefined))
  return () => {
    if (isConnected(redis)) return undefined
    // If no address of a host can be reached, the error has a code but no message.
    const { message, code } = (lastError ?? {}) as NodeJS.ErrnoException
    return `not connected: ${message || code || 'no response yet'}`
  }
}
