import { IntakeError, type ErrorCode } from '@intake/contract'

/**
 * The record may be stored after these errors: an `internal_error` can occur after it is stored.
 */
const uncertain: ReadonlySet<ErrorCode> = new Set(['outcome_unknown', 'internal_error'])

/**
 * Whether the records of a request that failed with this error may be stored. If false, none of
 * them is stored. An error that is not an `IntakeError` counts as `internal_error`.
 */
export const mayBeStored = (error: unknown): boolean =>
  !(error instanceof IntakeError) || uncertain.has(error.code)
