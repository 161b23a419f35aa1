import type { Child } from '@intake/supervisor'
import { askOwner, type Owner } from './ask-owner.ts'

const pollMs = 30_000
const timeoutMs = 5_000

/**
 * Ends the engine when a query of the user `analyst` or `reader` has run for `queryMsMax`, which is
 * more than their time limits allow. Such a query ignores the limit and KILL QUERY, as
 * `file('/proc/self/fd/4')` does on a pipe, and holds its thread and one of the places of its user
 * until the process ends, which the tables survive.
 */
export function endHungQueries(options: {
  child: Child
  owner: Owner
  queryMsMax: number
  say: (sentence: string) => void
}): void {
  const { child, owner, queryMsMax, say } = options
  const sql = `SELECT count() FROM system.processes
    WHERE user IN ('analyst', 'reader') AND elapsed * 1000 > ${queryMsMax}`

  async function check() {
    const text = await askOwner(sql, owner, timeoutMs)
    // Without a response, the next check will see.
    const count = text === undefined ? 0 : Number(text)
    if (count === 0 || !child.running()) return
    clearInterval(timer)
    say(`ClickHouse has ${count} queries that ignore their time limit: only a restart ends them.`)
    child.kill()
  }

  const timer = setInterval(() => void check(), Math.min(pollMs, queryMsMax))
  void child.exited.then(() => clearInterval(timer))
}
