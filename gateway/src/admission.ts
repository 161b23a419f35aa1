import type { FastifyReply, FastifyRequest } from 'fastify'
import { IntakeError, type RecordKind } from '@intake/contract'
import type { RedisState } from '@intake/redis'

export interface Admission {
  /** @throws {IntakeError} `queue_unavailable` while no record can be taken */
  checkQueue(): void
  /** @throws {IntakeError} `queue_full` while the queue has no room for records of this kind */
  checkRoom(kind: RecordKind): void
  /** Why no record is taken, in words for an operator; undefined while some are. */
  refusal(): string | undefined
}

/**
 * Share of the memory of Redis at which records are refused, and at which they are taken again. At
 * its limit Redis stops the workers too, so there must be room left for them; feedback, being rare
 * and precious, may use more of it than logs.
 */
const thresholds: Record<RecordKind, { refuse: number; resume: number }> = {
  logs: { refuse: 0.75, resume: 0.65 },
  feedback: { refuse: 0.85, resume: 0.75 },
}

/**
 * Decides from the state of Redis whether records can be taken.
 *
 * @param options.strict refuse while Redis is configured so that it could lose what it confirmed
 */
export function createAdmission(options: {
  state: () => RedisState | undefined
  strict: boolean
}): Admission {
  const full: Record<RecordKind, boolean> = { logs: false, feedback: false }

  function refusal(): string | undefined {
    const state = options.state()
    if (state === undefined) return 'Redis has not answered yet'
    if (state.installation === null) {
      return 'Redis belongs to no installation: it is new or has lost its data (see intake setup)'
    }
    if (options.strict && state.hazards.length > 0) return state.hazards.join('; ')
    return undefined
  }

  return {
    refusal,
    checkQueue() {
      if (refusal() !== undefined) {
        throw new IntakeError('queue_unavailable', 'The queue cannot take records now.')
      }
    },
    checkRoom(kind) {
      const { refuse, resume } = thresholds[kind]
      const used = options.state()?.memoryUsed ?? 0
      full[kind] = used >= (full[kind] ? resume : refuse)
      if (full[kind]) throw new IntakeError('queue_full', 'The queue is full; send again later.')
    },
  }
}

/** A hook that refuses a request before its body is read when its records would find no room. */
export function requireRoom(admission: Admission, kind: RecordKind) {
  return (_request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    admission.checkRoom(kind)
    done()
  }
}
