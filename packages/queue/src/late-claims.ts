import { TimeoutError, withTimeout, type Clock } from '@intake/runtime'
import type { ClaimedJob, JobSource } from './job-source.ts'

const claimTimeoutMs = 10_000

/**
 * Gives claims a timeout. A job whose claim gets its response later counts as waiting, and the next
 * claim returns it.
 */
export function keepLateClaims(
  source: JobSource,
  options: { onError: (error: Error) => void; clock: Clock },
): JobSource {
  const { onError, clock } = options
  const late: ClaimedJob[] = []
  const keep = (job: ClaimedJob | undefined) => void (job && late.push(job))

  return {
    ...source,

    async peek() {
      const { count, oldest } = await source.peek()
      return { count: count + late.length, oldest: late[0]?.id ?? oldest }
    },

    async claim() {
      const first = late.shift()
      if (first !== undefined) return first
      const claim = source.claim()
      try {
        return await withTimeout(claim, claimTimeoutMs, 'a claim', clock)
      } catch (error) {
        if (error instanceof TimeoutError) claim.then(keep, onError)
        throw error
      }
    },
  }
}
