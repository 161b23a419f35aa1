import { IntakeError, kinds, limits, type RecordKind } from '@intake/contract'
import type { ProblemCode } from '@intake/health/problem-catalogue'
import type { RedisState } from '@intake/redis'
import { systemClock, type Clock } from '@intake/runtime'

export type Admission = ReturnType<typeof createAdmission>

export type RedisProblems = Partial<
  Record<
    Extract<ProblemCode, 'redis_connection' | 'redis_lost_its_data' | 'redis_could_lose_records'>,
    string
  >
>

/**
 * Records are refused when the used share of Redis's memory reaches `refuse`, and accepted again
 * when it is below `resume`. The remaining memory is a reserve for workers, because Redis rejects
 * their writes, too, when its memory is full. Feedback is rare and valuable, so it may use more
 * memory than logs.
 */
export const memoryThresholds: Record<RecordKind, { refuse: number; resume: number }> = {
  logs: { refuse: 0.75, resume: 0.65 },
  feedback: { refuse: 0.85, resume: 0.75 },
}

export type OverShare = Readonly<Record<RecordKind, ReadonlySet<string>>>
export const nobody: OverShare = { logs: new Set(), feedback: new Set() }

/**
 * Decides from the state of Redis whether records are accepted.
 *
 * @param options.lostShards the shards of the log queue that have lost their frames
 * @param options.overShare the API keys that are over their share of the queue; default: none
 * @param options.isStrict whether to refuse records while Redis is configured so that it could lose
 * confirmed writes
 */
export function createAdmission(options: {
  state: () => RedisState | undefined
  lostShards?: () => readonly number[]
  overShare?: OverShare
  isStrict: boolean
  wallMs?: () => number
}) {
  const { overShare = nobody } = options
  const full: Record<RecordKind, boolean> = { logs: false, feedback: false }
  const clock = createSkewGauge(options)

  function isFull(kind: RecordKind, state = options.state()): boolean {
    const { refuse, resume } = memoryThresholds[kind]
    const used = state?.memoryUsed ?? 0
    full[kind] = used >= (full[kind] ? resume : refuse)
    return full[kind]
  }

  /**
   * Reads and checks the clock in one step: it may have jumped since the request was admitted.
   *
   * @returns milliseconds since 1970
   * @throws {IntakeError} `clock_skew` while the clock of this gateway differs too much from
   * Redis's, or shows a time that the tables reject
   */
  function now(state = options.state()): number {
    const { nowMs, skewMs, isOutOfRange } = clock(state)
    if (skewMs === undefined && !isOutOfRange) return nowMs
    throw new IntakeError('clock_skew', 'The clock of this gateway is wrong; send again later.')
  }

  return {
    redisProblems: (): RedisProblems => problemsOf(options.state(), options.lostShards?.()),
    full: (): RecordKind[] => kinds.filter((kind) => isFull(kind)),
    overShare,
    /** What is wrong with this gateway's clock, for an operator; undefined if nothing is. */
    clockSkew: () => describeSkew(clock(options.state())),
    now,
    /** @throws {IntakeError} `queue_unavailable` while the queue accepts no records */
    checkQueue(): void {
      const problems = problemsOf(options.state(), options.lostShards?.())
      const isUnusable =
        problems.redis_connection !== undefined || problems.redis_lost_its_data !== undefined
      const isRisky = problems.redis_could_lose_records !== undefined
      if (!isUnusable && !(isRisky && options.isStrict)) return
      throw new IntakeError('queue_unavailable', 'The queue accepts no records now.')
    },
    /**
     * Checks before the body is read whether its records could be accepted. The clock matters
     * because ids contain the time.
     *
     * @throws {IntakeError} `clock_skew`, see `now`; `queue_full` while the queue has no capacity
     * for records of this kind, or while the API key is over its share of it
     */
    requireCapacity(kind: RecordKind, apiKeyId: string): void {
      const state = options.state()
      now(state)
      if (isFull(kind, state))
        throw new IntakeError('queue_full', 'The queue is full; send again later.')
      if (overShare[kind].has(apiKeyId)) throw shareUsedUp()
    },
  }
}

/** The error for a key that is over its share, of which nothing is stored. */
export function shareUsedUp(): IntakeError {
  const detail = 'This API key has used up its share of the queue; send again later.'
  return new IntakeError('queue_full', detail)
}

function problemsOf(state: RedisState | undefined, lost: readonly number[] = []): RedisProblems {
  if (state === undefined) return { redis_connection: 'Redis has not responded yet' }
  if (state.writeRefusal !== undefined) return { redis_connection: state.writeRefusal }
  const problems: RedisProblems = {}
  if (state.installation === null) {
    problems.redis_lost_its_data = 'Redis is new or has lost its data (see intake setup)'
  } else if (lost.length > 0) {
    problems.redis_lost_its_data = `Redis has lost the data of the queue shards ${lost.join(', ')} (see intake setup)`
  }
  const violations = state.durabilityViolations
  if (violations.length > 0) problems.redis_could_lose_records = violations.join('; ')
  return problems
}

interface CheckedTime {
  nowMs: number
  /**
   * How far `nowMs` is ahead of Redis's clock; undefined within the limit, and if that is unknown.
   */
  skewMs: number | undefined
  /**
   * Whether the tables would reject a record with the time `nowMs`, or with the earliest or latest
   * time that a client may give a record now. Redis's clock is not used for this, because it can be
   * wrong by the same amount as `nowMs`.
   */
  isOutOfRange: boolean
}

function describeSkew({ nowMs, skewMs, isOutOfRange }: CheckedTime): string | undefined {
  if (skewMs === undefined) {
    if (!isOutOfRange) return undefined
    return `the clock of this gateway says ${new Date(nowMs).toISOString()}, which no record can have`
  }
  const seconds = Math.round(Math.abs(skewMs) / 1_000)
  return `the clock of this gateway is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of Redis`
}

const { recordTimeMs, eventAgeMs, eventAheadMs, clockSkewMaxMs } = limits

/**
 * Reads the wall clock of this process and checks two things: whether it differs from Redis's clock
 * by more than `clockSkewMaxMs`, and whether it shows a time that no record can have. The second
 * check is for a machine on which the gateway's clock and Redis's are wrong by the same amount.
 *
 * To compare the wall clock with Redis's clock, the last known time of Redis is advanced by the
 * monotonic clock. So a jump of the wall clock is noticed at once, without asking Redis. When the
 * measurement is too inexact to decide, the previous result is kept, so that a slow network does
 * not change the result.
 *
 * @param options.clock the monotonic clock to which the reading of Redis's clock refers
 */
export function createSkewGauge(options: {
  wallMs?: () => number
  clock?: Pick<Clock, 'now'>
}): (state: Pick<RedisState, 'clock'> | undefined) => CheckedTime {
  const { wallMs = Date.now, clock = systemClock } = options
  let isSkewed = false

  return (state) => {
    const nowMs = wallMs()
    const isOutOfRange =
      nowMs - eventAgeMs <= recordTimeMs.after || nowMs + eventAheadMs >= recordTimeMs.before
    const reading = state?.clock
    if (reading === undefined) return { nowMs, skewMs: undefined, isOutOfRange }
    const skewMs = nowMs - (clock.now() + reading.offsetMs)
    const distanceMs = Math.abs(skewMs)
    const flips = isSkewed
      ? distanceMs + reading.errorMs <= clockSkewMaxMs
      : distanceMs - reading.errorMs > clockSkewMaxMs
    if (flips) isSkewed = !isSkewed
    return { nowMs, skewMs: isSkewed ? skewMs : undefined, isOutOfRange }
  }
}
