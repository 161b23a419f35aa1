import type { Clock, Timer } from '@intake/runtime'
import type { ClaimedJob, JobSource } from './job-source.ts'

const intervalMs = 5_000

/** Renews the locks of the claimed jobs. Its timer runs only while there are claimed jobs. */
export function createLockRenewal(options: {
  renew: JobSource['renew']
  onError: (error: Error) => void
  /** Called with the number of claimed jobs that another worker may also have. */
  onLost: (jobs: number) => void
  clock: Clock
}) {
  const { renew, onError, onLost, clock } = options
  const claimed = new Set<ClaimedJob>()
  let timer: Timer | undefined

  function renewAgain(): void {
    timer = clock.setTimeout(renewAgain, intervalMs)
    void renewAll()
  }

  async function renewAll(): Promise<void> {
    const jobs = [...claimed]
    try {
      const lost = new Set(await renew(jobs))
      // A job that was completed during the renewal has no lock to lose.
      const affected = jobs.filter((job) => lost.has(job.id) && claimed.has(job))
      if (affected.length > 0) onLost(affected.length)
    } catch (error) {
      onError(error as Error)
    }
  }

  return {
    add(job: ClaimedJob): void {
      claimed.add(job)
      timer ??= clock.setTimeout(renewAgain, intervalMs)
    },
    delete(job: ClaimedJob): void {
      claimed.delete(job)
      if (claimed.size > 0) return
      clock.clearTimeout(timer)
      timer = undefined
    },
  }
}
