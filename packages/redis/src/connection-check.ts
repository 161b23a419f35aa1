import type { Redis } from './connect.ts'
import { isConnected } from './servers.ts'

/** @returns why there is no connection, in words for an operator; undefined while there is one */
export function createConnectionCheck(redis: Redis): () => string | undefined {
  let lastError: Error | undefined
  const fail = (error: Error) => (lastError = error)
  redis.on('error', fail)
  redis.on('node error', fail)
  redis.on('ready', () => (lastError = undefined))
  return () => {
    if (isConnected(redis)) return undefined
    // The error of a host with several addresses has a code and no message.
    const { message, code } = (lastError ?? {}) as NodeJS.ErrnoException
    return `not connected: ${message || code || 'no response yet'}`
  }
}
