import type { ErrorCode } from './errors.ts'

/**
 * What became of a record, for the counts per minute: accepted, refused with a code,
 * `suppressed`: acknowledged and not stored, because its sender was erased, or `overflow`: a gateway had no
 * memory left to count it under its own key and code.
 */
export type OutcomeCode = 'accepted' | ErrorCode | 'suppressed' | 'overflow'
