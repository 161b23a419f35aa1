import { setTimeout as pause } from 'node:timers/promises'
import { Worker, type Job } from 'bullmq'

const gatherMs = 250

/**
 * A BullMQ worker that, after it has found the queue empty, leaves the next jobs there for a moment
 * and then takes all of them in a row. Woken by every single job it would need twice the round trips,
 * and several workers would share a trickle and make as many small inserts.
 */
export class GatheringWorker extends Worker {
  #foundNone = true

  protected override async moveToActive(
    token: string,
    name?: string,
  ): ReturnType<Worker['moveToActive']> {
    if (this.#foundNone) {
      this.#foundNone = false
      await pause(gatherMs)
    }
    // Closed meanwhile: what it took now would have to be handed out again.
    return this.closing ? (undefined as unknown as Job) : super.moveToActive(token, name)
  }

  protected override async nextJobFromJobData(
    ...found: Parameters<Worker['nextJobFromJobData']>
  ): ReturnType<Worker['nextJobFromJobData']> {
    const [jobData] = found
    this.#foundNone = !jobData
    return super.nextJobFromJobData(...found)
  }
}
