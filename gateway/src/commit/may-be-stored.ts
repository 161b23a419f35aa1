import { IntakeError, type ErrorCode } from '@intake/contract'

/** An unexpected error may come after the record was stored. */
const uncertain: ReadonlySet<ErrorCode> = new Set(['outcome_unknown', 'internal_error'])

/**
 * Whether records of a request that failed with this error may be stored; after all others they are
 * not. An error that is not one of the catalogue becomes `internal_error`.
 */
export const mayBeStored = (error: unknown): boolean =>
  !(error instanceof IntakeError) || uncertain.has(error.code)
