import { setTimeout as pause } from 'node:timers/promises'
import { Worker, type Job, type Processor, type WorkerOptions } from 'bullmq'

/** Jobs that nobody has taken yet. */
export interface Waiting {
  count: number
  /** Id of the job that has waited longest. */
  oldest: string | undefined
}

const gatherMs = 350

/**
 * A BullMQ worker that leaves jobs in the queue until the oldest has waited for a moment, or half as
 * many wait as it can hold, and then takes all of them in a row. Any number of such workers take as
 * often as one: while one of them keeps up, the others see that the oldest has changed and leave the
 * rest to it. Woken by every single job they would share a trickle and make many small inserts.
 */
export class GatheringWorker extends Worker {
  readonly #look: () => Promise<Waiting>
  #taking = false
  #left = 0

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

  protected override async moveToActive(
    token: string,
    name?: string,
  ): ReturnType<Worker['moveToActive']> {
    if (!this.#taking) await this.#untilDue()
    // Closed meanwhile: what it took now would have to be handed out again.
    if (this.closing) return undefined as unknown as Job
    this.#taking = true
    return super.moveToActive(token, name)
  }

  protected override async nextJobFromJobData(
    ...found: Parameters<Worker['nextJobFromJobData']>
  ): ReturnType<Worker['nextJobFromJobData']> {
    const [jobData] = found
    if (!jobData) this.#taking = false
    return super.nextJobFromJobData(...found)
  }

  /** BullMQ would exchange every completed job for whatever is waiting. */
  protected override async handleCompleted(
    ...[result, job, token, mayFetch = () => true, span]: Parameters<Worker['handleCompleted']>
  ): ReturnType<Worker['handleCompleted']> {
    return super.handleCompleted(result, job, token, () => this.#taking && mayFetch(), span)
  }

  async #untilDue(): Promise<void> {
    let oldestBefore: string | undefined
    while (!this.closing) {
      const { count, oldest } = await this.#look()
      if (oldest === undefined || oldest === oldestBefore || count >= this.concurrency / 2) return
      if (oldestBefore !== undefined) this.#left++
      oldestBefore = oldest
      await pause(gatherMs)
    }
  }
}
