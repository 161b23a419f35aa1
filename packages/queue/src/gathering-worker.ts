import { setTimeout as pause } from 'node:timers/promises'
import { Worker, type Job, type Processor, type WorkerOptions } from 'bullmq'

/** Jobs that nobody has taken yet. */
export interface Waiting {
  count: number
  /** Id of the job that has waited longest. */
  oldest: string | undefined
}

const gatherMs = 350
/** Of a worker to which another one was first: that one goes on taking, and stays warm. */
const standbyMs = 500
/** One round trip and one write to disk for all of them. */
const takenAtOnceMax = 16

/**
 * A BullMQ worker that leaves jobs in the queue until the oldest has waited for a moment, or as many
 * wait as it can hold, and then takes all of them in a row. Any number of such workers take as often
 * as one: while one of them keeps up, the others see that the oldest has changed and leave the rest
 * to it. Woken by every single job they would share a trickle and make many small inserts.
 */
export class GatheringWorker extends Worker {
  readonly #look: () => Promise<Waiting>
  #pauseMs = gatherMs
  #left = 0
  /** From the moment when jobs are due until none is found. */
  #taking = false
  /** How many are still waiting, as far as this worker knows. */
  #expected = 0
  /** Taken together with one that BullMQ asked for; it gets them when it asks again. */
  readonly #taken: Job[] = []
  /** Ids of all that were taken and have not settled. */
  readonly #inHand = new Set<string>()

  constructor(
    name: string,
    processor: Processor,
    options: WorkerOptions & { look: () => Promise<Waiting> },
  ) {
    const { look, ...workerOptions } = options
    super(name, processor, workerOptions)
    this.#look = look
  }

  /** How often it has left jobs to another worker, which was taking them. */
  get left(): number {
    return this.#left
  }

  override async close(force?: boolean): Promise<void> {
    await Promise.all([super.close(force), this.#giveBack()])
  }

  protected override async moveToActive(
    token: string,
    name?: string,
  ): ReturnType<Worker['moveToActive']> {
    if (this.#taken.length === 0) {
      if (!this.#taking) this.#expected = await this.#untilDue()
      // Closed meanwhile: what it took now would have to be handed out again.
      if (this.closing) return undefined as unknown as Job
      this.#taking = true
      await this.#takeSeveral(token, name)
    }
    return this.#taken.shift() ?? super.nextJobFromJobData()
  }

  async #takeSeveral(token: string, name?: string): Promise<void> {
    const room = this.concurrency - this.#inHand.size
    const count = Math.max(1, Math.min(this.#expected, takenAtOnceMax, room))
    this.#expected -= count
    const attempts = Array.from({ length: count }, (_, index) =>
      super.moveToActive(`${token}:${index}`, name),
    )
    const failures: unknown[] = []
    for (const outcome of await Promise.allSettled(attempts)) {
      if (outcome.status === 'rejected') failures.push(outcome.reason)
      else if (outcome.value !== undefined) this.#taken.push(outcome.value)
    }
    if (this.closing) await this.#giveBack()
    // What failed is asked for again.
    if (failures.length === count) throw failures[0]
  }

  /** What BullMQ has not asked for before it was closed; the oldest goes back last, to be next again. */
  async #giveBack(): Promise<void> {
    for (let job = this.#taken.pop(); job !== undefined; job = this.#taken.pop()) {
      await job.moveToWait(job.token)
    }
  }

  /** BullMQ must not learn that nothing was found while something is left to hand out. */
  protected override async nextJobFromJobData(
    ...found: Parameters<Worker['nextJobFromJobData']>
  ): ReturnType<Worker['nextJobFromJobData']> {
    const [jobData, id] = found
    if (!jobData) this.#taking = false
    else if (id !== undefined) this.#inHand.add(id)
    return jobData ? super.nextJobFromJobData(...found) : (undefined as unknown as Job)
  }

  /** BullMQ would exchange every completed job for whatever is waiting. */
  protected override async handleCompleted(
    ...[result, job, token, mayFetch = () => true, span]: Parameters<Worker['handleCompleted']>
  ): ReturnType<Worker['handleCompleted']> {
    this.#settled(job)
    return super.handleCompleted(result, job, token, () => this.#taking && mayFetch(), span)
  }

  protected override async handleFailed(
    ...failure: Parameters<Worker['handleFailed']>
  ): ReturnType<Worker['handleFailed']> {
    this.#settled(failure[1])
    return super.handleFailed(...failure)
  }

  #settled({ id }: Job): void {
    if (id !== undefined) this.#inHand.delete(id)
  }

  /** @returns how many jobs wait */
  async #untilDue(): Promise<number> {
    let oldestBefore: string | undefined
    for (;;) {
      const { count, oldest } = await this.#look()
      if (oldest === undefined || count >= this.concurrency || this.closing) return count
      if (oldest === oldestBefore) {
        this.#pauseMs = gatherMs
        return count
      }
      if (oldestBefore !== undefined) {
        this.#left++
        this.#pauseMs = standbyMs
      }
      oldestBefore = oldest
      await pause(this.#pauseMs)
    }
  }
}
