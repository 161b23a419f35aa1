import { systemClock, type Clock } from '@intake/runtime'
import type { Server } from './connect.ts'

/** Relates the wall clock of Redis to the monotonic clock of this process. */
export interface ClockReading {
  /** Add this to `performance.now()` to get the wall clock of Redis, in milliseconds. */
  offsetMs: number
  /** Maximum error of `offsetMs`: half of the round trip. */
  errorMs: number
}

export async function readClock(
  redis: Pick<Server, 'time'>,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<ClockReading> {
  const sentAt = clock.now()
  const [seconds, microseconds] = await redis.time()
  const errorMs = (clock.now() - sentAt) / 2
  const redisMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000
  return { offsetMs: redisMs - (sentAt + errorMs), errorMs }
}
