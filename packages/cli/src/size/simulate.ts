import { refuseShare, resumeShare } from './figures.ts'
import { outageBegin, rateAt, type Load } from './load.ts'
import type { Plan } from './plan.ts'

/** The state at one minute. */
export interface Moment {
  /** Since the outage began; negative: before. */
  minute: number
  arrivingPerSecond: number
  acceptedPerSecond: number
  storedPerSecond: number
  waiting: number
  /** Of Redis's memory. */
  redisShare: number
}

export interface Course {
  moments: Moment[]
  /** Minutes since the outage began; undefined: never. */
  refusesFrom: number | undefined
  acceptsAgain: number | undefined
  drained: number | undefined
  /** Events that were refused. Clients send them again, as long as they keep them. */
  refused: number
  waitingMax: number
  redisShareMax: number
}

const stepSeconds = 60
const minutesBefore = 60
const minutesMax = 14 * 24 * 60

/**
 * An outage of ClickHouse around the hour of the highest rate, minute by minute, until the backlog is gone; at most
 * 14 days. Logs are refused from 75 % of Redis's memory on and accepted again at 65 %. Refused events are not sent again
 * here.
 *
 * @param options.redisMemoryBytes of all masters together
 */
export function simulateOutage(
  load: Load,
  plan: Plan,
  { redisMemoryBytes = plan.redisMemoryBytes }: { redisMemoryBytes?: number } = {},
): Course {
  const outageMinutes = Math.round(load.outageHours * 60)
  const begin = outageBegin(load)
  /** Idempotency keys are there from the start. */
  const otherShare = refuseShare - plan.queueShare
  const moments: Moment[] = []
  let waiting = 0
  let refuses = false
  const course: Omit<Course, 'moments'> = {
    refusesFrom: undefined,
    acceptsAgain: undefined,
    drained: undefined,
    refused: 0,
    waitingMax: 0,
    redisShareMax: otherShare,
  }
  for (let minute = -minutesBefore; minute <= outageMinutes + minutesMax; minute++) {
    const redisShare = otherShare + (waiting * plan.redisBytesPerEvent) / redisMemoryBytes
    // The planned memory is exactly full at the end: the sum of the minutes must not exceed it by rounding.
    if (redisShare > refuseShare + 1e-9) {
      refuses = true
      course.refusesFrom ??= minute
    } else if (refuses && redisShare <= Math.max(resumeShare, otherShare)) {
      refuses = false
      course.acceptsAgain ??= minute
    }
    const arrivingPerSecond = rateAt(load, begin + (minute + 0.5) / 60)
    const acceptedPerSecond = refuses ? 0 : arrivingPerSecond
    const isOut = minute >= 0 && minute < outageMinutes
    const storedPerSecond = isOut
      ? 0
      : Math.min(plan.storedPerSecond, acceptedPerSecond + waiting / stepSeconds)
    course.waitingMax = Math.max(course.waitingMax, waiting)
    course.redisShareMax = Math.max(course.redisShareMax, redisShare)
    moments.push({
      minute,
      arrivingPerSecond,
      acceptedPerSecond,
      storedPerSecond,
      waiting,
      redisShare,
    })
    if (minute >= outageMinutes && waiting === 0) {
      course.drained = minute
      break
    }
    if (refuses) course.refused += arrivingPerSecond * stepSeconds
    waiting = Math.max(0, waiting + (acceptedPerSecond - storedPerSecond) * stepSeconds)
    if (waiting < 1) waiting = 0
  }
  return { moments, ...course }
}
