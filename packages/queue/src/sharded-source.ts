import { startPolling, systemClock, TimeoutError, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource, Waiting } from './job-source.ts'

interface Shard {
  source: JobSource
  /** How many jobs it was asked for, compared with the others: the one with the fewest is next. */
  served: number
  /** It had no job a moment ago: in milliseconds of `clock.now()`. */
  emptyUntil: number
  /** Commands that it has not answered in time; while there are any, it is left alone. */
  unanswered: number
  /** The last error reply or lost connection since it was last asked for a job. */
  refusal: Error | undefined
  /** Claimed by a command whose answer came late. */
  late: ClaimedJob[]
}

const listIntervalMs = 5_000
/** A shard that does not answer in this time must not hold up the others. */
const answerMs = 2_000
/** Empty shards are asked again after so long, also while others have a backlog. */
const emptyMs = 250
/** A completion claims from its own shard, which saves a command, while that is at most so far ahead. */
const aheadMax = 16

const none: Waiting = { count: 0, oldest: undefined }

/**
 * Several shards as one queue, so that a batch holds frames of all of them and its limits hold whatever their
 * number. Shards with waiting jobs are served equally. A shard that does not answer, or refuses, holds up no other;
 * only the completion of its own jobs waits for it. A claim rejects only when no shard gave a job and one has refused.
 *
 * @param options.open opens a shard; it is closed with this source
 * @param options.list the shards that may hold jobs; shard 0 is served before the first answer
 * @param options.onError called for errors of single shards, which are asked again
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

  /** It is next, but does not get in one go what it was not asked for while it was empty. */
  function noteFilled(shard: Shard): void {
    shard.emptyUntil = 0
    shard.served = Math.max(shard.served, mostServed() - aheadMax - 1)
  }

  /** The shard that is next; undefined when none has jobs, as far as is known. */
  function next(): Shard | undefined {
    let least: Shard | undefined
    for (const shard of shards.values()) {
      if (shard.emptyUntil > 0 && clock.now() >= shard.emptyUntil) noteFilled(shard)
      const mayHave = shard.late.length > 0 || (shard.unanswered === 0 && shard.emptyUntil === 0)
      if (mayHave && (least === undefined || shard.served < least.served)) least = shard
    }
    return least
  }

  /** Undefined after an error, or when there is no answer in time. A late one is not lost. */
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
        // Ids begin with a time.
        oldest: all.flatMap(({ oldest }) => oldest ?? []).toSorted()[0],
      }
    },

    async claim() {
      for (let shard = next(); shard !== undefined; shard = next()) {
        const job = await claimFrom(shard)
        if (job !== undefined) return job
      }
      // Otherwise the refusal would look like an empty queue.
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
      const lost = await Promise.all([...byShard].map(([{ source }, mine]) => source.renew(mine)))
      return lost.flat()
    },

    async close() {
      isClosed = true
      polling.close()
      await Promise.all([...shards.values()].map(({ source }) => source.close()))
    },
  }
}
