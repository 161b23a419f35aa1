import type { ErrorCode } from './errors.ts'

/**
 * The outcome of a record, for the counts per minute.
 * - `accepted`
 * - an error code: the request was refused, or the record was rejected as an entry of a batch
 * - `dropped`: acknowledged but not stored, because a rule of the operator drops it
 * - `sampled`: acknowledged but not stored, because a rule stores the records of only some devices,
 * and this device is not one of them
 * - `suppressed`: acknowledged but not stored, because its sender was erased
 * - `overflow`: counted without its API key and code, because the gateway had too many counters
 */
export type OutcomeCode = ErrorCode | (typeof nonErrorOutcomes)[number]

/** The outcomes of records that were acknowledged but not stored. */
export const leftOutOutcomes = ['dropped', 'sampled', 'suppressed'] as const

/**
 * The outcomes that are not error codes. Their records were not refused, except perhaps those of
 * `overflow`.
 */
export const nonErrorOutcomes = ['accepted', ...leftOutOutcomes, 'overflow'] as const
