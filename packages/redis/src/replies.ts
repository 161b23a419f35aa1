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

/** Resolves to the reply, or the error, of each command. */
export async function execEach(
  transaction: ChainableCommander,
): Promise<[error: Error | null, reply: unknown][]> {
  const replies = await transaction.exec()
  if (replies === null) throw new Error('Redis has discarded the transaction')
  return replies
}

/** @throws the error of the first command that failed; others may have been executed */
export async function execAll(transaction: ChainableCommander): Promise<unknown[]> {
  return (await execEach(transaction)).map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}

/**
 * Runs a transaction that adds to hashes of counts. An amount that Redis cannot add to a damaged
 * count is lost: repeating the transaction would add the other amounts again and again.
 */
export async function addCounts(transaction: ChainableCommander): Promise<void> {
  for (const [error] of await execEach(transaction)) {
    if (error !== null && !isDamaged(error)) throw error
  }
}

/** Reads a hash of counts by API key. Leaves out damaged counts; a damaged hash counts as empty. */
export async function readCounts(
  redis: Redis,
  key: string,
): Promise<[apiKeyId: string, count: number][]> {
  try {
    const counts = Object.entries(await redis.hgetall(key))
    return counts.flatMap(([id, count]) => (/^\d{1,15}$/.test(count) ? [[id, Number(count)]] : []))
  } catch (error) {
    if (error instanceof Error && isDamaged(error)) return []
    throw error
  }
}
