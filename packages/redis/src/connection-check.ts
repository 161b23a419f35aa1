import type { Redis } from './connect.ts'

/** @returns why there is no connection, in words for an operator; undefined while there is one */
export function createConnectionCheck(redis: Redis): () => string | undefined {
  let lastError: Error | undefined
  redis.on('error', (error: Error) => (lastError = error))
  redis.on('ready', () => (lastError = undefined))
  return () => {
    if (redis.status === 'ready') return undefined
    // The error of a host with several addresses has a code and no message.
    const { message, code } = (lastError ?? {}) as NodeJS.ErrnoException
    return `not connected: ${message || code || 'no response yet'}`
  }
}
