import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource, Waiting } from '../job-source.ts'
import { answerMs, createShard, type Shard } from './shard.ts'

const listIntervalMs = 5_000
/**
 * By how many jobs a shard may be ahead of the one served least. Up to this number, a completion
 * claims the next job from the same shard, which saves a command.
 */
const aheadMax = 16

/**
 * Combines several shards into one queue, so that a batch, and its limits, are those of all shards.
 * Shards with waiting jobs are served equally. One that refuses does not delay the others; one that
 * does not respond delays them by at most `answerMs`, except calls about its own jobs, which have
 * no time limit. A claim rejects only if no shard returned a job and one has refused, a renewal
 * only if every shard fails.
 *
 * @param options.open opens a shard; it is closed with this source
 * @param options.list the shards that may hold jobs; until it resolves, only shard 0 is served
 * @param options.onError called when a single shard fails; it is asked again later
 */
export function createShardedSource(options: {
  open: (shard: number) => JobSource
  list: () => Promise<readonly number[]>
  onError: (error: Error) => void
  clock?: Clock
}): JobSource {
  const { list, onError, clock = systemClock } = options
  const { all, next, peek, add } = createShardSet({ ...options, clock })
  const owners = new WeakMap<ClaimedJob, Shard>()
  let isClosed = false
  const polling = startPolling({
    async poll() {
      const numbers = await withTimeout(list(), answerMs, 'listing shards', clock)
      if (!isClosed) numbers.forEach(add)
    },
    intervalMs: listIntervalMs,
    onError: (error) => onError(error as Error),
    clock,
  })

  function own(job: ClaimedJob | undefined, shard: Shard): ClaimedJob | undefined {
    if (job !== undefined) owners.set(job, shard)
    return job
  }
  const ownerOf = (job: ClaimedJob) => owners.get(job)!
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

  return {
    peek,

    hasPostponed: async () =>
      (await Promise.all(all().map((shard) => shard.hasPostponed()))).includes(true),

    async claim() {
      for (let shard = next(); shard !== undefined; shard = next()) {
        const job = await claimFrom(shard)
        if (job !== undefined) return job
      }
      // Rejects with the refusal, which would otherwise look like an empty queue.
      const refused = all().find(({ refusal }) => refusal !== undefined)
      if (refused !== undefined) throw refused.refusal
      return undefined
    },

    complete: (job, { claimNext }) =>
      claimNext ? completeAndClaim(job) : ownerOf(job).source.complete(job, { claimNext }),

    postpone: (job, ms) => ownerOf(job).source.postpone(job, ms),
    release: (job) => ownerOf(job).source.release(job),

    renew: (jobs) => renewLocks(jobs, { ownerOf, onError, clock }),

    async close() {
      isClosed = true
      polling.close()
      await Promise.all(all().map(({ source }) => source.close()))
    },
  }
}

/** The shards that are served, and the one whose turn it is. Begins with shard 0. */
function createShardSet(options: {
  open: (shard: number) => JobSource
  onError: (error: Error) => void
  clock: Clock
}) {
  const { open, onError, clock } = options
  const shards = new Map<number, Shard>()
  add(0)

  function all(): Shard[] {
    return [...shards.values()]
  }

  function mostServed(): number {
    return Math.max(0, ...all().map(({ served }) => served))
  }

  function add(number: number): void {
    if (shards.has(number)) return
    const served = mostServed()
    shards.set(number, createShard({ source: open(number), served, clock, onError }))
  }

  /**
   * Gives a shard that was empty the lowest count with which the most served one's next completion
   * claims from it: it does not catch up on all that it did not serve.
   */
  function noteFilled(shard: Shard): void {
    shard.noteFilled(mostServed() - aheadMax - 1)
  }

  /** Returns the shard to ask next; undefined if no shard may have jobs. */
  function next(): Shard | undefined {
    let least: Shard | undefined
    for (const shard of shards.values()) {
      if (shard.isDue()) noteFilled(shard)
      if (shard.mayHaveJobs() && (least === undefined || shard.served < least.served)) least = shard
    }
    return least
  }

  async function peek(): Promise<Waiting> {
    const found = await Promise.all(
      all().map(async (shard) => {
        const waiting = await shard.peek()
        if (waiting.count > 0 && shard.wasEmpty()) noteFilled(shard)
        return waiting
      }),
    )
    return {
      count: found.reduce((sum, { count }) => sum + count, 0),
      // The smallest id is the oldest, because ids begin with a time.
      oldest: found.flatMap(({ oldest }) => oldest ?? []).toSorted()[0],
    }
  }

  return { all, next, peek, add }
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
  const renewals = await Promise.allSettled(
    [...new Set(jobs.map(ownerOf))].map((shard) => {
      const renewal = shard.source.renew(jobs.filter((job) => ownerOf(job) === shard))
      return withTimeout(renewal, answerMs, 'lock renewal of a shard', clock)
    }),
  )
  const failures = renewals.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length > 0 && failures.length === renewals.length) throw failures[0]
  for (const failure of failures) onError(failure as Error)
  return renewals.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
}
