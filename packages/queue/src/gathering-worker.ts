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
 *
 * BullMQ asks for one job after the other until it is told that there is none, and processes none of
 * them before that: so there is no waiting between the first job and "none".
 */
export class GatheringWorker extends Worker {
  readonly #look: () => Promise<Waiting>
  #pauseMs = gatherMs
  #left = 0
  /** From the moment when jobs are due until BullMQ has been told that there is none. */
  #taking = false
  /** How many are still waiting, as far as this worker knows. */
  #expected = 0
  /** Taken together with one that BullMQ asked for; it gets them when it asks again. */
  readonly #taken: Job[] = []
  /** The queue had no more than these. */
  #foundNone = false
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
    if (this.#taken.length === 0 && !this.#foundNone) {
      if (!this.#taking) this.#expected = await this.#untilDue()
      else if (this.#expected <= 0) this.#expected = (await this.#look()).count
      // Closed meanwhile: what it took now would have to be handed out again.
      if (this.closing) return undefined as unknown as Job
      this.#taking = true
      await this.#takeSeveral(token, name)
    }
    const job = this.#taken.shift()
    if (job !== undefined) return job
    this.#taking = false
    this.#foundNone = false
    return super.nextJobFromJobData()
  }

  async #takeSeveral(token: string, name?: string): Promise<void> {
    const room = this.concurrency - this.#inHand.size
    const count = Math.max(1, Math.min(this.#expected, takenAtOnceMax, room))
    this.#expected -= count
    const attempts = Array.from({ length: count }, (_, index) =>
      super.moveToActive(`${token}:${index}`, name),
    )
    let failures = 0
    for (const outcome of await Promise.allSettled(attempts)) {
      if (outcome.status === 'rejected') {
        failures++
        // BullMQ reports and repeats what fails; the others are worth having all the same.
        if (failures === count) throw outcome.reason
      } else if (outcome.value === undefined) this.#foundNone = true
      else this.#taken.push(outcome.value)
    }
    if (this.closing) await this.#giveBack()
  }

  /** What BullMQ has not asked for before it was closed; the oldest goes back last, to be next again. */
  async #giveBack(): Promise<void> {
    for (let job = this.#taken.pop(); job !== undefined; job = this.#taken.pop()) {
      try {
        await job.moveToWait(job.token)
      } catch (error) {
        // Then it is handed out again when its lock has ended.
        this.emit('error', error as Error)
      }
    }
  }

  /** What an attempt or an exchange has found. */
  protected override async nextJobFromJobData(
    ...found: Parameters<Worker['nextJobFromJobData']>
  ): ReturnType<Worker['nextJobFromJobData']> {
    const [jobData, id] = found
    if (!jobData) return undefined as unknown as Job
    this.#taking = true
    if (id !== undefined) this.#inHand.add(id)
    return super.nextJobFromJobData(...found)
  }

  /**
   * While it takes, a completed job is exchanged for one that waits, in one round trip. What is found
   * after BullMQ has been told that there is none makes it take again: between two jobs that it has
   * found there is no waiting, which would keep the first one from being processed.
   */
  protected override async handleCompleted(
    ...[result, job, token, mayFetch = () => true, span]: Parameters<Worker['handleCompleted']>
  ): ReturnType<Worker['handleCompleted']> {
    const mayExchange = () => this.#taking && mayFetch()
    const next = await super.handleCompleted(result, job, token, mayExchange, span)
    this.#settled(job)
    return next
  }

  /** What fails is not exchanged: BullMQ takes the next one by a way that would wait here. */
  protected override async handleFailed(
    ...[error, job, token, , span]: Parameters<Worker['handleFailed']>
  ): ReturnType<Worker['handleFailed']> {
    this.#settled(job)
    return super.handleFailed(error, job, token, () => false, span)
  }

  #settled({ id }: Job): void {
    if (id !== undefined) this.#inHand.delete(id)
  }

  /** @returns how many jobs wait */
  async #untilDue(): Promise<number> {
    let oldestBefore: string | undefined
    for (;;) {
      const { count, oldest } = await this.#look()
      if (count >= this.concurrency || this.closing) return count
      if (oldest === oldestBefore && oldest !== undefined) {
        this.#pauseMs = gatherMs
        return count
      }
      if (oldestBefore !== undefined) {
        this.#left++
        this.#pauseMs = standbyMs
      }
      if (oldest === undefined) return count
      oldestBefore = oldest
      await pause(this.#pauseMs)
    }
  }
}
