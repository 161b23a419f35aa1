import type { FastifyRequest } from 'fastify'
import { allowsBundle, type ApiKeyDirectory, type Policy, type SenderRules } from '@intake/access'
import { IntakeError, type RecordKind } from '@intake/contract'
import type { Sender } from '@intake/contract/schemas'
import type { Clock } from '@intake/runtime'
import { requireKeyNow } from '../body/before-body.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'
import type { RequestSize } from '../admission/limits.ts'
import { idempotencyKey } from '../identity/idempotency-key.ts'
import type { RequestContext } from '../record/row.ts'
import type { Judged, Outcomes, Settled } from '../report/outcomes.ts'

/** A request whose API key may write the records of its sender now. */
export interface Admitted {
  request: FastifyRequest
  kind: RecordKind
  sender: Sender
  context: RequestContext
  key: string | undefined
  rules: SenderRules | undefined
  /** Whether nothing of the sender is stored; decided by `isStored`. */
  isSuppressed: boolean
}

export interface Terms {
  /** Older records have been dropped, by `time`, in milliseconds; undefined: none. */
  retentionMs: number | undefined
  /** The time by which the records must be stored, in milliseconds of `clock.now()`. */
  deadline: number
}

export type Acceptance = ReturnType<typeof createAcceptance>

/**
 * The steps of accepting records, in the order in which each operation calls them. A step throws an
 * `IntakeError` to refuse the whole request. The error handler then counts the refusal, and gives
 * back what the request has used of its key's limits, unless its records may be stored.
 *
 * @param options.now the current time in milliseconds since 1970; may throw to refuse the request
 * @param options.countryHeader the header in which a trusted proxy sends the country of the client;
 * if undefined, no country is stored
 */
export function createAcceptance(options: {
  apiKeys: Pick<ApiKeyDirectory, 'find'>
  policy: Pick<Policy, 'retentionMs' | 'isSuppressed' | 'rules'>
  limiter: Pick<KeyLimiter, 'take'>
  outcomes: Pick<Outcomes, 'settle'>
  now: () => number
  countryHeader: string | undefined
  enqueueTimeoutMs: number
  clock: Pick<Clock, 'now'>
}) {
  const { apiKeys, policy, limiter, outcomes, now, enqueueTimeoutMs, clock } = options
  const countryHeader = options.countryHeader?.toLowerCase()

  return {
    /**
     * Checks that the key may write for this sender now, and counts the contents of the request.
     *
     * @throws {IntakeError} `bundle_not_allowed`, and what `requireKeyNow` and `KeyLimiter.take`
     * throw
     */
    admit(request: FastifyRequest, sender: Sender, size: RequestSize): Admitted {
      const { bundle_identifier: bundle, unique_user_id: user } = sender
      if (!bundle.isWellFormed() || !user.isWellFormed()) makeWellFormed(sender)
      const apiKey = requireKeyNow(apiKeys, request)
      const bundles = apiKey.bundleIdentifiers
      if (bundles.length > 0 && !allowsBundle(bundles, sender.bundle_identifier)) {
        throw new IntakeError('bundle_not_allowed', 'This API key is for other bundle identifiers.')
      }
      request.charge = limiter.take(apiKey, sender.device_uuid, size)
      const { kind } = size
      const { id: requestId, headers, span } = request
      const country = countryHeader === undefined ? undefined : countryOf(headers[countryHeader])
      const context = { apiKeyId: apiKey.id, requestId, receivedAtMs: now(), country, span }
      const all = policy.rules()
      const rules = all.active.length === 0 ? undefined : all.forSender(kind, apiKey.id, sender)
      const sentKey = headers['idempotency-key']
      const key = sentKey === undefined ? undefined : idempotencyKey(sentKey)
      return { request, kind, sender, context, key, rules, isSuppressed: false }
    },

    /** Starts the time for identifying and storing the records. */
    terms: ({ kind, sender }: Pick<Admitted, 'kind' | 'sender'>): Terms => ({
      retentionMs: policy.retentionMs(kind, sender.bundle_identifier),
      deadline: clock.now() + enqueueTimeoutMs,
    }),

    /** Whether records of the sender are stored: not if it is suppressed. `settle` counts by it. */
    isStored(admitted: Admitted): boolean {
      admitted.isSuppressed = policy.isSuppressed(admitted.sender)
      return !admitted.isSuppressed
    },

    /** Counts what became of the records. A route can respond with nothing else than the result. */
    settle<Body>(admitted: Admitted, records: readonly Judged[], body: Body): Settled<Body> {
      const { request, kind, context, isSuppressed } = admitted
      const settled = outcomes.settle({ kind, context, isSuppressed, records }, body)
      if (settled.leftOut > 0) request.charge?.giveBackBudget(settled.leftOut)
      return settled
    },
  }
}

/**
 * Replaces lone surrogates in the identifiers by U+FFFD, as `rowJson` would: authorization,
 * idempotency and suppression use the identifiers that are stored.
 */
function makeWellFormed(sender: Sender): void {
  sender.bundle_identifier = sender.bundle_identifier.toWellFormed()
  sender.unique_user_id = sender.unique_user_id.toWellFormed()
}

/** Returns the country in upper case. Proxies send XX for an unknown country. */
function countryOf(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string' || !/^[a-z]{2}$/i.test(value)) return undefined
  const country = value.toUpperCase()
  return country === 'XX' ? undefined : country
}
