package intake.client

/**
 * The gateway reads at most 256 KiB of a body that it refuses. For a larger one a client could get
 * a reset instead of the response (docs/sending.md).
 */
internal const val SEGMENT_BYTES_MAX = 200_000

/**
 * Full storage holds at least this many segments. It makes room by dropping the oldest segment as a
 * whole, so no segment may be a large part of it.
 */
internal const val SEGMENTS_MIN = 10

/** The maximum length of the names of events and users. */
internal const val IDENTIFIER_MAX = 255

/**
 * The maximum length of an event's params, as JSON. In UTF-8 they have up to three times as many
 * bytes.
 */
internal const val PARAMS_MAX = 100_000

private const val DAY_MS = 86_400_000L

/**
 * A day less than the gateway accepts, so that an event does not become too old while it is sent.
 */
internal const val EVENT_AGE_MS_MAX = 29 * DAY_MS
internal const val FEEDBACK_MAX = 20
internal const val ATTACHMENTS_MAX = 4

/** How often a request that gets 500 is attempted. */
internal const val FEW_ATTEMPTS = 3

/** How often an event may get another id. */
internal const val GENERATIONS_MAX = 3
internal const val RETRY_AFTER_MS_MAX = DAY_MS

/** If a response took longer than this, it says too little about the server's clock. */
internal const val ROUND_TRIP_MS_MAX = 8000L
