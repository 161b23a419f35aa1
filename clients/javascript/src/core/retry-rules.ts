// Generated from the error catalogue by `npm run generate`. Do not edit.

/** Statuses below 500 after which the same request can succeed later. */
export const retryStatuses: readonly number[] = [408, 429]

/** Statuses of errors that the URL or the API key causes, not the records. */
export const settingStatuses: readonly number[] = [401, 403, 404, 405]

/** Codes of 503 after which the records may be stored. After other codes they are not. */
export const uncertainCodes: readonly string[] = ['outcome_unknown']
