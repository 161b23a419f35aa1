/** No account waits for all the items of another account. */
export function createRoundRobin<Item>() {
  /** The items of each account; the accounts are in the order of their turns. */
  const queues = new Map<string, Item[]>()
  return {
    add(account: string, item: Item): void {
      const queue = queues.get(account)
      if (queue === undefined) queues.set(account, [item])
      else queue.push(item)
    },
    /** Removes the oldest item of the account whose turn it is; undefined if there is none. */
    next(): Item | undefined {
      for (const [account, queue] of queues) {
        const item = queue.shift()
        queues.delete(account)
        if (queue.length > 0) queues.set(account, queue)
        return item
      }
      return undefined
    },
    accounts: queues as { readonly size: number },
  }
}
