import type { ChainableCommander } from 'ioredis'
import type { Redis } from './connect.ts'

/** The word in capitals at the beginning of an error reply, such as `READONLY`; empty if none. */
export function replyCode(error: Error): string {
  return /^[A-Z]+/.exec(error.message)?.[0] ?? ''
}

/**
 * Whether the key has a wrong value: of another type, no integer, or one that the command would
 * make too large or too small.
 */
export function isDamaged(error: Error): boolean {
  return /^(WRONGTYPE|ERR (hash )?value is not an integer|ERR increment or decrement)/.test(
    error.message,
  )
}

/** Returns a field of the text that `INFO` returns; undefined if it is missing. */
export function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
}

/** @throws the error of the first command that failed; others may have been executed */
export async function execAll(transaction: ChainableCommander): Promise<unknown[]> {
  const replies = await transaction.exec()
  if (replies === null) throw new Error('Redis has discarded the transaction')
  return replies.map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}

/** Reads a hash of counts by API key. A damaged one counts as empty. */
export async function readCounts(redis: Redis, key: string): Promise<Record<string, string>> {
  try {
    return await redis.hgetall(key)
  } catch (error) {
    if (error instanceof Error && isDamaged(error)) return {}
    throw error
  }
}
