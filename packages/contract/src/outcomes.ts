import type { ErrorCode } from './errors.ts'

/**
 * The outcome of a record, for the counts per minute.
 * - `accepted`
 * - an error code: refused or rejected
 * - `suppressed`: acknowledged but not stored, because its sender was erased
 * - `overflow`: the gateway had no memory left to count it under its own key and code
 */
export type OutcomeCode = 'accepted' | ErrorCode | 'suppressed' | 'overflow'
