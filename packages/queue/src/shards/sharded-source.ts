import { startPolling, systemClock, TimeoutError, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource, Waiting } from '../job-source.ts'

interface Shard {
  source: JobSource
  /**
   * The count of jobs that were claimed from this shard. The shard with the lowest count is next. A
   * shard that was empty gets a higher count, so that it does not catch up completely.
   */
  served: number
  /**
   * The time before which the shard is not asked again, in milliseconds of `clock.now()`, because
   * it was empty when last asked; 0 if it may have jobs.
   */
  emptyUntil: number
  /**
   * The number of commands that timed out and have no response yet. While there are any, the shard
   * is not asked.
   */
  unanswered: number
  /** The last error reply or lost connection since this shard was last asked for a job. */
  refusal: Error | undefined
  /** Claimed jobs to hand out: the response to a claim was late, or a completion failed. */
  late: ClaimedJob[]
}

const listIntervalMs = 5_000
/** The timeout for a response. A slow shard delays the other shards by at most this time. */
const answerMs = 2_000
/** An empty shard is asked again after this time, even while other shards have a backlog. */
const emptyMs = 250
/**
 * The number of jobs by which a shard may be ahead of the shard that was served least. Up to this
 * number, a completion claims the next job from the same shard, which saves a command.
 */
const aheadMax = 16

const none: Waiting = { count: 0, oldest: undefined }

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
    const source = open(number)
    shards.set(number, {
      source,
      served,
      emptyUntil: 0,
      unanswered: 0,
      refusal: undefined,
      late: [],
    })
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

  const noteEmpty = (shard: Shard) => void (shard.emptyUntil = clock.now() + emptyMs)

  /**
   * Raises `served` of a shard that was empty, so that it is at most `aheadMax + 1` jobs behind the
   * most served shard. The next completion on the most served shard then claims from this shard.
   * But this shard does not catch up on all the jobs that it did not serve while it was empty.
   */
  function noteFilled(shard: Shard): void {
    shard.emptyUntil = 0
    shard.served = Math.max(shard.served, mostServed() - aheadMax - 1)
  }

  /** Returns the shard to ask next; undefined if no shard may have jobs. */
  function next(): Shard | undefined {
    let least: Shard | undefined
    for (const shard of shards.values()) {
      if (shard.emptyUntil > 0 && clock.now() >= shard.emptyUntil) noteFilled(shard)
      const mayHave = shard.late.length > 0 || (shard.unanswered === 0 && shard.emptyUntil === 0)
      if (mayHave && (least === undefined || shard.served < least.served)) least = shard
    }
    return least
  }

  /**
   * Waits for the response of a shard. Resolves to undefined after an error, or if there is no
   * response in time. A late response is passed to `onLate`.
   */
  async function ask<Answer>(
    shard: Shard,
    command: Promise<Answer>,
    onLate: (answer: Answer) => void = () => {},
  ): Promise<Answer | undefined> {
    try {
      return await withTimeout(command, answerMs, 'a shard', clock)
    } catch (error) {
      if (error instanceof TimeoutError) {
        shard.unanswered++
        void command.then(onLate, onError).finally(() => shard.unanswered--)
      } else {
        shard.refusal = error as Error
        onError(shard.refusal)
      }
      return undefined
    }
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

  async function claimFrom(shard: Shard): Promise<ClaimedJob | undefined> {
    shard.served++
    shard.refusal = undefined
    const keep = (job: ClaimedJob | undefined) => {
      if (job !== undefined) shard.late.push(job)
    }
    const job = shard.late.shift() ?? (await ask(shard, shard.source.claim(), keep))
    if (job === undefined) noteEmpty(shard)
    return own(job, shard)
  }

  async function peek(shard: Shard): Promise<Waiting> {
    const late = { count: shard.late.length, oldest: shard.late[0]?.id }
    if (shard.unanswered > 0) return late
    const { count, oldest } = (await ask(shard, shard.source.peek())) ?? none
    if (count > 0 && shard.emptyUntil > 0) noteFilled(shard)
    return { count: count + late.count, oldest: late.oldest ?? oldest }
  }

  return {
    async peek() {
      const all = await Promise.all([...shards.values()].map(peek))
      return {
        count: all.reduce((sum, { count }) => sum + count, 0),
        // The smallest id is the oldest, because ids begin with a time.
        oldest: all.flatMap(({ oldest }) => oldest ?? []).toSorted()[0],
      }
    },

    async hasPostponed() {
      const answers = [...shards.values()].map(
        async (shard) => shard.unanswered === 0 && (await ask(shard, shard.source.hasPostponed())),
      )
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

    async complete(job, { claimNext }) {
      const shard = ownerOf(job)
      if (!claimNext) return shard.source.complete(job, { claimNext })
      const least = next() ?? shard
      if (shard.served - least.served <= aheadMax) {
        shard.served++
        const claimed = await shard.source.complete(job, { claimNext })
        if (claimed === undefined) noteEmpty(shard)
        return own(claimed, shard)
      }
      const completion = shard.source.complete(job, { claimNext: false })
      const [completed, claimed] = await Promise.allSettled([completion, claimFrom(least)])
      if (completed.status === 'fulfilled')
        return claimed.status === 'fulfilled' ? claimed.value : undefined
      if (claimed.status === 'fulfilled' && claimed.value !== undefined)
        least.late.push(claimed.value)
      throw completed.reason
    },

    postpone: (job, ms) => ownerOf(job).source.postpone(job, ms),
    release: (job) => ownerOf(job).source.release(job),

    async renew(jobs) {
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
    },

    async close() {
      isClosed = true
      polling.close()
      await Promise.all([...shards.values()].map(({ source }) => source.close()))
    },
  }
}
