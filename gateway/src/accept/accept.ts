import type { FastifyRequest } from 'fastify'
import type { IntakeError, RecordKind } from '@intake/contract'
import type { Sender } from '@intake/contract/schemas'
import type { ApiKeyDirectory, Policy, Ruling, SenderRules } from '@intake/access'
import type { Clock } from '@intake/runtime'
import { requireKeyNow } from '../admission/authenticate.ts'
import type { KeyLimiter, RequestSize } from '../admission/key-limits.ts'
import { idempotencyKey } from '../identity/idempotency-key.ts'
import type { ContextOf, RequestContext } from '../record/request-context.ts'
import type { Outcomes } from '../report/outcomes.ts'
import { authorizeBundle } from './authorize-bundle.ts'
import { makeWellFormed } from './well-formed-sender.ts'

/** An authenticated request. Its API key may write for the application that the request names. */
export interface Arrival {
  request: FastifyRequest
  context: RequestContext
  /** The `Idempotency-Key` header; undefined if the request has none. */
  key: string | undefined
  /** The operator's rules about records of this sender; undefined if there are none. */
  rules: SenderRules | undefined
}

export interface Terms {
  /** The retention of records, in milliseconds; undefined if they are kept without limit. */
  retentionMs: number | undefined
  /** The time by which the records must be stored, in milliseconds of `clock.now()`. */
  deadline: number
}

/**
 * The steps that differ between the write operations. `createAccept` runs them in this order. A
 * step throws an `IntakeError` to refuse the whole request.
 */
export interface Steps<Submission, Prepared, Identified> {
  readonly kind: RecordKind
  /**
   * Reads and validates the body of the request. The entries of a batch are validated later, by
   * `prepare`.
   */
  read(request: FastifyRequest): Submission | Promise<Submission>
  senderOf(submission: Submission): Sender
  /** Returns the size of the request, which counts towards the limits of its API key. */
  sizeOf(submission: Submission): RequestSize
  /**
   * Does the work that needs no identity. For a batch, this prints the rows without their
   * identities.
   */
  prepare(submission: Submission, arrival: Arrival): Prepared | Promise<Prepared>
  /** Assigns each record its identity. May write reservations to Redis, but no records. */
  identify(
    submission: Submission,
    prepared: Prepared,
    arrival: Arrival & Terms,
  ): Identified | Promise<Identified>
  /** Resolves when the records are on stable storage. */
  store(
    submission: Submission,
    prepared: Prepared,
    identified: Identified,
    arrival: Arrival & Terms,
  ): Promise<void>
  /** Returns the number of acknowledged records, the errors of rejected ones, and the rulings. */
  tally(prepared: Prepared, identified: Identified): Tally
}

export interface Tally {
  /** The number of acknowledged records, including those that a rule or suppression left out. */
  accepted: number
  rejected: readonly IntakeError[]
  /** A ruling for each accepted record to which a rule of the operator applies. */
  rulings: readonly Ruling[]
}

/** The tally of a request with one record and no ruling. All such requests share this object. */
const oneAccepted: Tally = { accepted: 1, rejected: [], rulings: [] }

/** Returns the tally of a request with one record. */
export const tallyOne = (ruling: Ruling | undefined): Tally =>
  ruling === undefined ? oneAccepted : { ...oneAccepted, rulings: [ruling] }

function countLeftOut(rulings: readonly Ruling[]): number {
  return rulings.filter(({ outcome }) => outcome !== 'accepted').length
}

/** Accepts a request; resolves when its records are stored and counted. */
export type Accept = <Submission, Prepared, Identified>(
  steps: Steps<Submission, Prepared, Identified>,
  request: FastifyRequest,
) => Promise<{ submission: Submission; identified: Identified }>

/**
 * Creates the function that runs the steps of a write operation, in order. The function does not
 * store records that a rule of the operator drops, or records of a suppressed sender (one whose
 * records were erased with `--suppress`). A rule can change the row of a record, but not its
 * identity, which is computed from what was sent. The function counts every request that it does
 * not refuse. It refuses a request by throwing an error. The error handler then counts the refusal,
 * and gives back what the request has used of its key's limits, unless its records may be stored.
 */
export function createAccept(options: {
  apiKeys: Pick<ApiKeyDirectory, 'find'>
  contextOf: ContextOf
  policy: Pick<Policy, 'retentionMs' | 'isSuppressed' | 'rules'>
  limiter: Pick<KeyLimiter, 'take'>
  outcomes: Pick<Outcomes, 'settled'>
  enqueueTimeoutMs: number
  clock: Pick<Clock, 'now'>
}): Accept {
  const { apiKeys, contextOf, policy, limiter, outcomes, enqueueTimeoutMs, clock } = options

  return async (steps, request) => {
    const { kind } = steps
    const submission = await steps.read(request)
    const sender = steps.senderOf(submission)
    makeWellFormed(sender)
    const apiKey = requireKeyNow(apiKeys, request)
    authorizeBundle(apiKey, sender.bundle_identifier)
    request.charge = limiter.take(apiKey, sender.device_uuid, steps.sizeOf(submission))
    const key = idempotencyKey(request)
    const context = contextOf(request)
    const rules = policy.rules().forSender(kind, context.apiKeyId, sender)
    const prepared = await steps.prepare(submission, { request, context, key, rules })
    const retentionMs = policy.retentionMs(kind)
    const deadline = clock.now() + enqueueTimeoutMs
    const arrival = { request, context, key, rules, retentionMs, deadline }
    const identified = await steps.identify(submission, prepared, arrival)
    const isSuppressed = policy.isSuppressed(sender)
    if (!isSuppressed) await steps.store(submission, prepared, identified, arrival)
    const { apiKeyId, requestId, receivedAtMs } = context
    const { accepted, rejected, rulings } = steps.tally(prepared, identified)
    const leftOut = isSuppressed ? accepted : countLeftOut(rulings)
    if (leftOut > 0) request.charge.giveBackBudget(leftOut)
    // Lists every property instead of spreading an object: after a spread, V8 adds each further
    // property with a slow call.
    outcomes.settled({
      kind,
      apiKeyId,
      requestId,
      receivedAtMs,
      isSuppressed,
      accepted,
      rejected,
      rulings,
    })
    return { submission, identified }
  }
}
