package intake.client

// Generated from the error catalogue by `npm run generate`. Do not edit.

/** Statuses below 500 after which the same request can succeed later. */
internal val retryStatuses = setOf(408, 429)

/** Statuses of errors that the URL or the API key causes, not the records. */
internal val settingStatuses = setOf(401, 403, 404, 405)

/** Codes of 503 after which the records may be stored. After other codes they are not. */
internal val uncertainCodes = setOf("outcome_unknown")
