import { IntakeError, type ErrorCode } from '@intake/contract'

/** An `internal_error` can occur after the record is stored. */
const uncertain: ReadonlySet<ErrorCode> = new Set(['outcome_unknown', 'internal_error'])

/** Whether records of a request that failed so may be stored; if false, none is. */
export const mayBeStored = (error: unknown): boolean =>
  !(error instanceof IntakeError) || uncertain.has(error.code)
