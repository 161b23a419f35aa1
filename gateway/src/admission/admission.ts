import { IntakeError, kinds, type RecordKind } from '@intake/contract'
import type { ProblemCode } from '@intake/health/problem-catalogue'
import type { RedisState } from '@intake/redis'
import { createSkewGauge } from './clock-skew.ts'

export interface Admission {
  /** @throws {IntakeError} `queue_unavailable` while the queue accepts no records */
  checkQueue(): void
  /**
   * Returns the current time for an arriving record, in milliseconds since 1970. Reads and checks
   * the clock in one step, because the clock may have jumped since the request was admitted.
   *
   * @throws {IntakeError} `clock_skew` while the clock of this gateway differs too much from
   * Redis's, or shows a time that the tables reject
   */
  readonly now: () => number
  /**
   * Checks before the body is read whether its records could be accepted. The clock matters because
   * ids contain the time.
   *
   * @throws {IntakeError} `clock_skew`, see `now`; `queue_full` while the queue has no capacity for
   * records of this kind, or while the API key is over its share of it
   */
  requireRoom(kind: RecordKind, apiKeyId: string): void
  /** The problems of Redis, by code; empty if there are none. */
  redisProblems(): RedisProblems
  /** The kinds of record for which the queue has no capacity. */
  full(): RecordKind[]
  /** The ids of the API keys that are over their share of the queue for records of this kind. */
  readonly overShare: Readonly<Record<RecordKind, ReadonlySet<string>>>
  /**
   * What is wrong with this gateway's clock, in words for an operator; undefined if nothing is
   * wrong.
   */
  clockSkew(): string | undefined
}

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

const nobody = { logs: new Set<string>(), feedback: new Set<string>() }

/**
 * Decides from the state of Redis whether records are accepted.
 *
 * @param options.lostShards returns the numbers of the log queue's shards that have lost their
 * frames
 * @param options.overShare returns the API keys that are over their share of the queue for records
 * of a kind; default: none
 * @param options.strict whether to refuse records while Redis is configured so that it could lose
 * confirmed writes
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 */
export function createAdmission(options: {
  state: () => RedisState | undefined
  lostShards?: () => readonly number[]
  overShare?: Admission['overShare']
  strict: boolean
  clockSkewMaxMs: number
  wallMs?: () => number
}): Admission {
  const { overShare = nobody } = options
  const full: Record<RecordKind, boolean> = { logs: false, feedback: false }
  const clock = createSkewGauge(options)

  function redisProblems(): RedisProblems {
    const state = options.state()
    if (state === undefined) return { redis_connection: 'Redis has not responded yet' }
    if (state.writeRefusal !== undefined) return { redis_connection: state.writeRefusal }
    const violations = state.durabilityViolations
    const lost = options.lostShards?.() ?? []
    // Sets the properties one by one, because spreading objects is slower, and this runs for every
    // request.
    const problems: RedisProblems = {}
    if (state.installation === null) {
      problems.redis_lost_its_data = 'Redis is new or has lost its data (see intake setup)'
    } else if (lost.length > 0) {
      problems.redis_lost_its_data = `Redis has lost the data of the queue shards ${lost.join(', ')} (see intake setup)`
    }
    if (violations.length > 0) problems.redis_could_lose_records = violations.join('; ')
    return problems
  }

  function isFull(kind: RecordKind): boolean {
    const { refuse, resume } = memoryThresholds[kind]
    const used = options.state()?.memoryUsed ?? 0
    full[kind] = used >= (full[kind] ? resume : refuse)
    return full[kind]
  }

  function now(): number {
    const { nowMs, skewMs, isOutOfRange } = clock()
    if (skewMs === undefined && !isOutOfRange) return nowMs
    throw new IntakeError('clock_skew', 'The clock of this gateway is wrong; send again later.')
  }

  function clockSkew(): string | undefined {
    const { nowMs, skewMs, isOutOfRange } = clock()
    if (skewMs === undefined) {
      if (!isOutOfRange) return undefined
      return `the clock of this gateway says ${new Date(nowMs).toISOString()}, which no record can have`
    }
    const seconds = Math.round(Math.abs(skewMs) / 1_000)
    return `the clock of this gateway is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of Redis`
  }

  return {
    redisProblems,
    full: () => kinds.filter(isFull),
    overShare,
    clockSkew,
    now,
    checkQueue() {
      const {
        redis_connection: connection,
        redis_lost_its_data: loss,
        redis_could_lose_records: risk,
      } = redisProblems()
      if (connection === undefined && loss === undefined) {
        if (risk === undefined || !options.strict) return
      }
      throw new IntakeError('queue_unavailable', 'The queue accepts no records now.')
    },
    requireRoom(kind, apiKeyId) {
      now()
      if (isFull(kind)) throw new IntakeError('queue_full', 'The queue is full; send again later.')
      if (!overShare[kind].has(apiKeyId)) return
      const detail = 'This API key has used up its share of the queue; send again later.'
      throw new IntakeError('queue_full', detail)
    },
  }
}
