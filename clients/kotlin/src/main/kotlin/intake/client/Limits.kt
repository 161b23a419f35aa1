package intake.client

/**
 * The gateway reads at most 256 KiB of a body that it refuses; a larger one could meet a reset
 * instead of the answer (docs/sending.md).
 */
internal const val SEGMENT_BYTES_MAX = 200_000

/** A segment never has more of what may wait than this part, because the oldest one goes whole. */
internal const val SEGMENTS_MIN = 10

/** Length of names of events and users. */
internal const val IDENTIFIER_MAX = 255

/**
 * Length of the params of an event, as JSON. In UTF-8 they have up to three times as many bytes.
 */
internal const val PARAMS_MAX = 100_000

private const val DAY_MS = 86_400_000L

/** A day less than what the gateway takes: an event should not become too old on its way. */
internal const val EVENT_AGE_MS_MAX = 29 * DAY_MS
internal const val FEEDBACK_MAX = 20
internal const val ATTACHMENTS_MAX = 4

/** Attempts of a request that gets 500. */
internal const val FEW_ATTEMPTS = 3

/** How often an event may get another id. */
internal const val GENERATIONS_MAX = 3
internal const val RETRY_AFTER_MS_MAX = DAY_MS

/** Above this, the time that an answer took says too little about the server's clock. */
internal const val ROUND_TRIP_MS_MAX = 8000L
