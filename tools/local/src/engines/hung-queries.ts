import type { Child } from '../supervisor/child.ts'
import { askOwner, type Owner } from './ask-owner.ts'

const pollMs = 30_000
const timeoutMs = 5_000

/**
 * Cancels queries of `reader` and of all analysts that have run for `queryMsMax`, which is
 * longer than their time limits allow. Ends the engine if such a query still runs `killMsMax`
 * later, which the tables survive. Neither the time limit nor KILL QUERY has an effect while the
 * engine computes a single row: for example, while `file('/proc/self/fd/4')` waits for a pipe, or
 * while a function compares two long arrays.
 */
export function endHungQueries(options: {
  child: Child
  owner: Owner
  queryMsMax: number
  killMsMax: number
  say: (sentence: string) => void
}): void {
  const { child, owner, queryMsMax, killMsMax, say } = options
  // The response lists the queries that this statement cancels. It also lists queries that an
  // earlier statement cancelled and that are still running.
  const sql = `KILL QUERY WHERE (user IN ('analyst', 'reader') OR startsWith(user, 'intake_')) AND elapsed * 1000 > ${queryMsMax}
    ASYNC FORMAT JSONEachRow`
  let cancelledAt = new Map<string, number>()

  async function check() {
    const now = performance.now()
    const text = await askOwner(sql, owner, timeoutMs)
    // Without a response it is unknown which queries are running. The next check asks again.
    if (text === undefined || !child.running()) return
    const found = idsIn(text)
    const added = found.filter((id) => !cancelledAt.has(id)).length
    if (added > 0) say(`ClickHouse: ${queries(added)} ignored the time limit: cancelled.`)
    cancelledAt = new Map(found.map((id) => [id, cancelledAt.get(id) ?? now]))
    const hung = found.filter((id) => now - (cancelledAt.get(id) ?? now) >= killMsMax).length
    if (hung === 0) return
    clearInterval(timer)
    say(`ClickHouse: ${queries(hung)} cannot be cancelled: only a restart ends that.`)
    child.kill()
  }

  const timer = setInterval(() => void check(), Math.min(pollMs, queryMsMax, killMsMax))
  void child.exited.then(() => clearInterval(timer))
}

const idsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { query_id: string }).query_id)

const queries = (count: number) => (count === 1 ? 'one query' : `${count} queries`)
