import type { FastifyReply, FastifyRequest } from 'fastify'
import { IntakeError, type RecordKind } from '@intake/contract'
import type { RedisState } from '@intake/redis'
import { createSkewGauge } from './clock-skew.ts'

export interface Admission {
  /** @throws {IntakeError} `queue_unavailable` while the queue accepts no records */
  checkQueue(): void
  /**
   * The current time for an arriving record, in milliseconds. Reading and checking are one step,
   * because the clock may have jumped since the request was admitted.
   *
   * @throws {IntakeError} `clock_skew` while the clock of this gateway differs from that of Redis, or
   * shows a time that the tables reject
   */
  now(): number
  /** @throws {IntakeError} `queue_full` while the queue has no capacity for records of this kind */
  checkCapacity(kind: RecordKind): void
  /** Why the queue accepts no records, in words for an operator; undefined while it accepts them. */
  refusal(): string | undefined
  /** What is wrong with the clock of this gateway, in words for an operator; undefined: nothing. */
  clockSkew(): string | undefined
}

/**
 * Share of Redis's memory at which records are refused, and at which they are accepted again. At its
 * memory limit Redis stops the workers too, so they need a reserve. Feedback is rare and valuable, so
 * it may use more than logs.
 */
const thresholds: Record<RecordKind, { refuse: number; resume: number }> = {
  logs: { refuse: 0.75, resume: 0.65 },
  feedback: { refuse: 0.85, resume: 0.75 },
}

/**
 * Decides from the state of Redis whether records are accepted.
 *
 * @param options.strict refuse records while Redis is configured so that it could lose what it
 * confirmed
 * @param options.onClockSkew called when the clock becomes wrong, and when it is right again
 * @param options.now the wall clock
 */
export function createAdmission(options: {
  state: () => RedisState | undefined
  strict: boolean
  clockSkewMaxMs: number
  onClockSkew?: (reason: string | undefined) => void
  now?: () => number
}): Admission {
  const full: Record<RecordKind, boolean> = { logs: false, feedback: false }
  const clock = createSkewGauge({
    ...options,
    reading: () => options.state()?.clock,
    onChange: () => options.onClockSkew?.(clockSkew()),
  })

  function refusal(): string | undefined {
    const state = options.state()
    if (state === undefined) return 'Redis has not responded yet'
    if (state.writeRefusal !== undefined) return state.writeRefusal
    if (state.installation === null) {
      return 'Redis belongs to no installation: it is new or has lost its data (see intake setup)'
    }
    if (options.strict && state.durabilityViolations.length > 0) {
      return state.durabilityViolations.join('; ')
    }
    return undefined
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
    refusal,
    clockSkew,
    now() {
      const { nowMs, skewMs, isOutOfRange } = clock()
      if (skewMs === undefined && !isOutOfRange) return nowMs
      throw new IntakeError('clock_skew', 'The clock of this gateway is wrong; send again later.')
    },
    checkQueue() {
      if (refusal() !== undefined) {
        throw new IntakeError('queue_unavailable', 'The queue accepts no records now.')
      }
    },
    checkCapacity(kind) {
      const { refuse, resume } = thresholds[kind]
      const used = options.state()?.memoryUsed ?? 0
      full[kind] = used >= (full[kind] ? resume : refuse)
      if (full[kind]) throw new IntakeError('queue_full', 'The queue is full; send again later.')
    },
  }
}

/**
 * A hook that refuses a request before its body is read when there is no capacity for its records, or
 * when they would get ids with a wrong time.
 */
export function requireCapacity(admission: Admission, kind: RecordKind) {
  return (_request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    admission.now()
    admission.checkCapacity(kind)
    done()
  }
}
