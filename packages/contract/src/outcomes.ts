import type { ErrorCode } from './errors.ts'

/**
 * What became of a record, for the counts per minute: accepted, refused with a code, or `overflow`: a
 * gateway had no memory left to count it under its own key and code.
 */
export type OutcomeCode = 'accepted' | ErrorCode | 'overflow'
