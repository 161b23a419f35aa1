import type { ChainableCommander } from 'ioredis'

/**
 * Executes a transaction and returns the replies of its commands.
 *
 * @throws the error of the first command that failed; the other commands may have been executed
 */
export async function execAll(transaction: ChainableCommander): Promise<unknown[]> {
  const replies = await transaction.exec()
  if (replies === null) throw new Error('Redis has discarded the transaction')
  return replies.map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}
