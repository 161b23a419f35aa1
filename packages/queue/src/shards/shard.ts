import { TimeoutError, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource, Waiting } from '../job-source.ts'

/** The timeout for a response. A slow shard delays the other shards by at most this time. */
export const answerMs = 2_000
/** An empty shard is asked again after this time, even while other shards have a backlog. */
const emptyMs = 250

export type Shard = ReturnType<typeof createShard>

/** One shard of a queue, with what is known of it. None of its methods rejects. */
export function createShard(options: {
  source: JobSource
  served: number
  clock: Clock
  onError: (error: Error) => void
}) {
  const { source, clock, onError } = options
  /** When the empty shard is asked again, by `clock.now()`; 0 if it may have jobs. */
  let emptyUntil = 0
  /** Commands that timed out and have no response yet. Meanwhile the shard is not asked. */
  let unanswered = 0
  /** Claimed jobs to hand out: the response to a claim was late, or a completion failed. */
  const late: ClaimedJob[] = []

  /** Resolves to undefined after an error, or if there is no response in time. */
  async function ask<Answer>(
    command: Promise<Answer>,
    onLate: (answer: Answer) => void = () => {},
  ): Promise<Answer | undefined> {
    try {
      return await withTimeout(command, answerMs, 'a shard', clock)
    } catch (error) {
      if (error instanceof TimeoutError) {
        unanswered++
        void command.then(onLate, onError).finally(() => unanswered--)
      } else {
        shard.refusal = error as Error
        onError(shard.refusal)
      }
      return undefined
    }
  }

  const shard = {
    source,
    /** Jobs claimed from this shard; the shard with the fewest is next. */
    served: options.served,
    /** The last error reply or lost connection since this shard was last asked for a job. */
    refusal: undefined as Error | undefined,
    wasEmpty: () => emptyUntil > 0,
    /** Whether the shard was empty, and its time to be asked again has come. */
    isDue: () => emptyUntil > 0 && clock.now() >= emptyUntil,
    mayHaveJobs: () => late.length > 0 || (unanswered === 0 && emptyUntil === 0),
    noteEmpty: () => void (emptyUntil = clock.now() + emptyMs),
    /** Notes that the shard may have jobs again, and raises `served` to at least this number. */
    noteFilled(servedMin: number): void {
      emptyUntil = 0
      shard.served = Math.max(shard.served, servedMin)
    },
    /** Keeps a claimed job, to hand it out at a later `claim`. */
    keep(job: ClaimedJob | undefined): void {
      if (job !== undefined) late.push(job)
    },
    async claim(): Promise<ClaimedJob | undefined> {
      shard.served++
      shard.refusal = undefined
      const job = late.shift() ?? (await ask(source.claim(), shard.keep))
      if (job === undefined) shard.noteEmpty()
      return job
    },
    async peek(): Promise<Waiting> {
      const [count, oldest] = [late.length, late[0]?.id]
      const found = unanswered > 0 ? undefined : await ask(source.peek())
      return { count: count + (found?.count ?? 0), oldest: oldest ?? found?.oldest }
    },
    hasPostponed: async (): Promise<boolean> =>
      unanswered === 0 && (await ask(source.hasPostponed())) === true,
  }
  return shard
}
