import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource } from '../job-source.ts'
import { answerMs, Shard } from './shard.ts'

const listIntervalMs = 5_000
/**
 * The number of jobs by which a shard may be ahead of the shard that was served least. Up to this
 * number, a completion claims the next job from the same shard, which saves a command.
 */
const aheadMax = 16

/**
 * Combines several shards into one queue, so that a batch holds frames of all shards, and its
 * limits apply to all shards together. Shards with waiting jobs are served equally. A shard that
 * refuses does not delay the other shards. A shard that does not respond delays them by at most
 * `answerMs`; but a call that completes, postpones or releases one of its jobs has no time limit. A
 * claim rejects only if no shard returned a job and one has refused. A renewal rejects only if
 * every shard fails.
 *
 * @param options.open opens a shard; it is closed with this source
 * @param options.list the shards that may hold jobs; before it first resolves, only shard 0 is
 * served
 * @param options.onError called when a single shard fails; the shard is asked again later
 */
export function createShardedSource(options: {
  open: (shard: number) => JobSource
  list: () => Promise<readonly number[]>
  onError: (error: Error) => void
  clock?: Clock
}): JobSource {
  const { open, list, onError, clock = systemClock } = options
  const shards = new Map<number, Shard>()
  const owners = new WeakMap<ClaimedJob, Shard>()
  let isClosed = false

  function add(number: number): void {
    if (shards.has(number) || isClosed) return
    const served = mostServed()
    shards.set(number, new Shard({ source: open(number), served, clock, onError }))
  }
  add(0)
  const polling = startPolling({
    async poll() {
      for (const shard of await withTimeout(list(), answerMs, 'listing shards', clock)) add(shard)
    },
    intervalMs: listIntervalMs,
    onError: (error) => onError(error as Error),
    clock,
  })

  function mostServed(): number {
    return Math.max(0, ...[...shards.values()].map(({ served }) => served))
  }

  /**
   * The lowest count of a shard that has jobs again after it was empty: the next completion on the
   * most served shard then claims from it.
   */
  const servedMin = () => mostServed() - aheadMax - 1

  /** Returns the shard to ask next; undefined if no shard may have jobs. */
  function next(): Shard | undefined {
    let least: Shard | undefined
    for (const shard of shards.values()) {
      if (shard.isDue) shard.noteFilled(servedMin())
      if (shard.mayHaveJobs && (least === undefined || shard.served < least.served)) least = shard
    }
    return least
  }

  function own(job: ClaimedJob | undefined, shard: Shard): ClaimedJob | undefined {
    if (job !== undefined) owners.set(job, shard)
    return job
  }

  function ownerOf(job: ClaimedJob): Shard {
    const shard = owners.get(job)
    if (shard === undefined) throw new TypeError('the job was claimed from another queue')
    return shard
  }

  const claimFrom = async (shard: Shard) => own(await shard.claim(), shard)

  /** Claims from the same shard in one command, unless that shard is ahead of the others. */
  async function completeAndClaim(job: ClaimedJob): Promise<ClaimedJob | undefined> {
    const shard = ownerOf(job)
    const least = next() ?? shard
    if (shard.served - least.served <= aheadMax) {
      shard.served++
      const claimed = await shard.source.complete(job, { claimNext: true })
      if (claimed === undefined) shard.noteEmpty()
      return own(claimed, shard)
    }
    const completion = shard.source.complete(job, { claimNext: false })
    const [completed, claimed] = await Promise.allSettled([completion, claimFrom(least)])
    const other = claimed.status === 'fulfilled' ? claimed.value : undefined
    if (completed.status === 'fulfilled') return other
    least.keep(other)
    throw completed.reason
  }

  async function renew(jobs: readonly ClaimedJob[]): Promise<string[]> {
    const byShard = new Map<Shard, ClaimedJob[]>()
    for (const job of jobs) {
      const shard = ownerOf(job)
      byShard.set(shard, [...(byShard.get(shard) ?? []), job])
    }
    const renewals = await Promise.allSettled(
      [...byShard].map(([{ source }, mine]) =>
        withTimeout(source.renew(mine), answerMs, 'lock renewal of a shard', clock),
      ),
    )
    const failures = renewals.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (failures.length > 0 && failures.length === byShard.size) throw failures[0]
    for (const failure of failures) onError(failure as Error)
    return renewals.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  }

  return {
    async peek() {
      const all = await Promise.all(
        [...shards.values()].map(async (shard) => {
          const waiting = await shard.peek()
          if (waiting.count > 0 && shard.wasEmpty) shard.noteFilled(servedMin())
          return waiting
        }),
      )
      return {
        count: all.reduce((sum, { count }) => sum + count, 0),
        // The smallest id is the oldest, because ids begin with a time.
        oldest: all.flatMap(({ oldest }) => oldest ?? []).toSorted()[0],
      }
    },

    async hasPostponed() {
      const answers = [...shards.values()].map((shard) => shard.hasPostponed())
      return (await Promise.all(answers)).includes(true)
    },

    async claim() {
      for (let shard = next(); shard !== undefined; shard = next()) {
        const job = await claimFrom(shard)
        if (job !== undefined) return job
      }
      // Rejects with the refusal, which would otherwise look like an empty queue.
      const refused = [...shards.values()].find(({ refusal }) => refusal !== undefined)
      if (refused !== undefined) throw refused.refusal
      return undefined
    },

    complete: (job, { claimNext }) =>
      claimNext ? completeAndClaim(job) : ownerOf(job).source.complete(job, { claimNext }),

    postpone: (job, ms) => ownerOf(job).source.postpone(job, ms),
    release: (job) => ownerOf(job).source.release(job),

    renew,

    async close() {
      isClosed = true
      polling.close()
      await Promise.all([...shards.values()].map(({ source }) => source.close()))
    },
  }
}
