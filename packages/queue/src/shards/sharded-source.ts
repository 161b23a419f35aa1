import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource } from '../job-source.ts'
import { answerMs, type Shard } from './shard.ts'
import { aheadMax, ShardSet } from './shard-set.ts'

const listIntervalMs = 5_000

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
  const { list, onError, clock = systemClock } = options
  const shards = new ShardSet({ ...options, clock })
  const owners = new WeakMap<ClaimedJob, Shard>()
  const polling = startPolling({
    async poll() {
      const numbers = await withTimeout(list(), answerMs, 'listing shards', clock)
      for (const number of numbers) shards.add(number)
    },
    intervalMs: listIntervalMs,
    onError: (error) => onError(error as Error),
    clock,
  })

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
    const least = shards.next() ?? shard
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

  return {
    peek: () => shards.peek(),

    hasPostponed: () => shards.hasPostponed(),

    async claim() {
      for (let shard = shards.next(); shard !== undefined; shard = shards.next()) {
        const job = await claimFrom(shard)
        if (job !== undefined) return job
      }
      // Rejects with the refusal, which would otherwise look like an empty queue.
      const refused = shards.all().find(({ refusal }) => refusal !== undefined)
      if (refused !== undefined) throw refused.refusal
      return undefined
    },

    complete: (job, { claimNext }) =>
      claimNext ? completeAndClaim(job) : ownerOf(job).source.complete(job, { claimNext }),

    postpone: (job, ms) => ownerOf(job).source.postpone(job, ms),
    release: (job) => ownerOf(job).source.release(job),

    renew: (jobs) => renewLocks(jobs, { ownerOf, onError, clock }),

    async close() {
      polling.close()
      await shards.close()
    },
  }
}

async function renewLocks(
  jobs: readonly ClaimedJob[],
  options: {
    ownerOf: (job: ClaimedJob) => Shard
    onError: (error: Error) => void
    clock: Clock
  },
): Promise<string[]> {
  const { ownerOf, onError, clock } = options
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
