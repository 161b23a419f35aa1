import { TimeoutError, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource } from './job-source.ts'

const commandTimeoutMs = 10_000

/**
 * Gives every command a timeout. A job that is claimed by a command whose response comes
 * later counts as waiting, and the next claim returns it.
 */
export function createTimedSource(
  source: JobSource,
  options: { onError: (error: Error) => void; clock: Clock },
): JobSource {
  const { onError, clock } = options
  const late: ClaimedJob[] = []
  const keep = (job: ClaimedJob | undefined) => void (job && late.push(job))

  function inTime<Result>(command: Promise<Result>, what = 'a queue command'): Promise<Result> {
    return withTimeout(command, commandTimeoutMs, what, clock)
  }

  async function claimed(command: Promise<ClaimedJob | undefined>, what?: string) {
    try {
      return await inTime(command, what)
    } catch (error) {
      if (error instanceof TimeoutError) command.then(keep, onError)
      throw error
    }
  }

  return {
    ...source,

    async peek() {
      const { count, oldest } = await inTime(source.peek(), 'a look at a queue')
      return { count: count + late.length, oldest: late[0]?.id ?? oldest }
    },

    hasPostponed: () => inTime(source.hasPostponed(), 'a look at a queue'),
    claim: async () => late.shift() ?? claimed(source.claim(), 'a claim'),
    complete: (job, next) => claimed(source.complete(job, next)),
    postpone: (job, ms) => inTime(source.postpone(job, ms)),
    release: (job) => inTime(source.release(job)),
    renew: (jobs) => inTime(source.renew(jobs), 'lock renewal'),
  }
}
