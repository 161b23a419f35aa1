import { TimeoutError, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource, Waiting } from '../job-source.ts'

/** The timeout for a response. A slow shard delays the other shards by at most this time. */
export const answerMs = 2_000
/** An empty shard is asked again after this time, even while other shards have a backlog. */
const emptyMs = 250

/** One shard of a queue, with what is known of it. None of its methods rejects. */
export class Shard {
  readonly source: JobSource
  /**
   * The count of jobs that were claimed from this shard. The shard with the lowest count is next. A
   * shard that was empty gets a higher count, so that it does not catch up completely.
   */
  served: number
  /** The last error reply or lost connection since this shard was last asked for a job. */
  refusal: Error | undefined
  /**
   * The time before which the shard is not asked again, in milliseconds of `clock.now()`, because
   * it was empty when last asked; 0 if it may have jobs.
   */
  #emptyUntil = 0
  /**
   * The number of commands that timed out and have no response yet. While there are any, the shard
   * is not asked.
   */
  #unanswered = 0
  /** Claimed jobs to hand out: the response to a claim was late, or a completion failed. */
  readonly #late: ClaimedJob[] = []
  readonly #clock: Clock
  readonly #onError: (error: Error) => void

  constructor(options: {
    source: JobSource
    served: number
    clock: Clock
    onError: (error: Error) => void
  }) {
    this.source = options.source
    this.served = options.served
    this.#clock = options.clock
    this.#onError = options.onError
  }

  /** Whether the shard was empty, and its time to be asked again has come. */
  get isDue(): boolean {
    return this.#emptyUntil > 0 && this.#clock.now() >= this.#emptyUntil
  }

  get mayHaveJobs(): boolean {
    return this.#late.length > 0 || (this.#unanswered === 0 && this.#emptyUntil === 0)
  }

  noteEmpty(): void {
    this.#emptyUntil = this.#clock.now() + emptyMs
  }

  /**
   * Raises `served` to at least this number, so that a shard that was empty does not catch up on all
   * the jobs that it did not serve meanwhile.
   */
  noteFilled(servedMin: number): void {
    this.#emptyUntil = 0
    this.served = Math.max(this.served, servedMin)
  }

  keep(job: ClaimedJob | undefined): void {
    if (job !== undefined) this.#late.push(job)
  }

  async claim(): Promise<ClaimedJob | undefined> {
    this.served++
    this.refusal = undefined
    const late = this.#late.shift()
    const job = late ?? (await this.#ask(this.source.claim(), (answer) => this.keep(answer)))
    if (job === undefined) this.noteEmpty()
    return job
  }

  async peek(): Promise<Waiting> {
    const count = this.#late.length
    const oldest = this.#late[0]?.id
    const found = this.#unanswered > 0 ? undefined : await this.#ask(this.source.peek())
    return { count: count + (found?.count ?? 0), oldest: oldest ?? found?.oldest }
  }

  /** Whether the shard was empty when it was last asked. */
  get wasEmpty(): boolean {
    return this.#emptyUntil > 0
  }

  async hasPostponed(): Promise<boolean> {
    return this.#unanswered === 0 && (await this.#ask(this.source.hasPostponed())) === true
  }

  /**
   * Resolves to undefined after an error, or if there is no response in time. A late response is
   * passed to `onLate`.
   */
  async #ask<Answer>(
    command: Promise<Answer>,
    onLate: (answer: Answer) => void = () => {},
  ): Promise<Answer | undefined> {
    try {
      return await withTimeout(command, answerMs, 'a shard', this.#clock)
    } catch (error) {
      if (error instanceof TimeoutError) {
        this.#unanswered++
        void command.then(onLate, this.#onError).finally(() => this.#unanswered--)
      } else {
        this.refusal = error as Error
        this.#onError(this.refusal)
      }
      return undefined
    }
  }
}
