import type { ErrorCode } from './errors.ts'

/**
 * The outcome of a record, for the counts per minute: `accepted`, or
 * - an error code: the request was refused, or the record was rejected as an entry of a batch
 * - `dropped`, `sampled`: acknowledged but not stored, because a rule drops it, or stores the
 *   records of only some devices
 * - `suppressed`: acknowledged but not stored, because its sender was erased
 * - `overflow`: counted without its API key and code, because the gateway had too many counters
 */
export type OutcomeCode = ErrorCode | (typeof nonErrorOutcomes)[number]

/** The outcomes of records that were acknowledged but not stored. */
export const leftOutOutcomes = ['dropped', 'sampled', 'suppressed'] as const

/** Not error codes: the records were not refused, except perhaps those of `overflow`. */
export const nonErrorOutcomes = ['accepted', ...leftOutOutcomes, 'overflow'] as const
