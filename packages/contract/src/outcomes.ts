import type { ErrorCode } from './errors.ts'

/**
 * The outcome of a record, for the counts per minute.
 * - `accepted`
 * - an error code: refused or rejected
 * - `dropped`: acknowledged but not stored, because a rule of the operator drops it
 * - `sampled`: acknowledged but not stored, because a rule keeps the records of other devices
 * - `suppressed`: acknowledged but not stored, because its sender was erased
 * - `overflow`: the gateway had no memory left to count it under its own key and code
 */
export type OutcomeCode = 'accepted' | ErrorCode | 'dropped' | 'sampled' | 'suppressed' | 'overflow'
