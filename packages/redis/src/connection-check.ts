import type { Redis } from './connect.ts'

/** @returns a check that throws while there is no connection, with the last error as the reason */
export function createConnectionCheck(redis: Redis): () => void {
  let lastError: Error | undefined
  redis.on('error', (error: Error) => (lastError = error))
  redis.on('ready', () => (lastError = undefined))
  return () => {
    if (redis.status === 'ready') return
    // The error of a host with several addresses has a code and no message.
    const { message, code } = (lastError ?? {}) as NodeJS.ErrnoException
    throw new Error(`not connected: ${message || code || 'no response yet'}`)
  }
}
