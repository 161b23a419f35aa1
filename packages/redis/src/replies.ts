import type { ChainableCommander } from 'ioredis'

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

/** Of a transaction in which Redis refused a command, its error says only that it was discarded. */
function throwFirst(error: Error & { previousErrors?: Error[] }): never {
  throw error.previousErrors?.[0] ?? error
}

/** Resolves to the reply, or the error, of each command. */
export async function execEach(
  transaction: ChainableCommander,
): Promise<[error: Error | null, reply: unknown][]> {
  const replies = await transaction.exec().catch(throwFirst)
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
