package intake.client

/**
 * How long nothing is sent because the storage cannot be read, in milliseconds. After that, the
 * client makes a UUID for the device, until the storage can be read.
 */
internal const val START_MS_MAX = 8000L

/** The pause before the storage is read again, in milliseconds. */
internal const val START_AGAIN_MS = 1000L

/**
 * Maximum size of a segment, in bytes. It arrives at 2,000 bytes a second, not compressed, before
 * the gateway ends the request: the body may fall 40 KB behind 4,096 bytes a second.
 */
internal const val SEGMENT_BYTES_MAX = 30_000

internal const val ENTRIES_MAX = 500

/**
 * The size of a segment is limited to the size of the storage divided by this number. A segment
 * must be a small part of the storage, because full storage drops its oldest segment to make room.
 */
internal const val SEGMENTS_MIN = 10

/** The maximum length of an event's name and of a user's id, in UTF-16 units. */
internal const val IDENTIFIER_MAX = 255

/**
 * The maximum length of an event's params as JSON, in UTF-16 units. In UTF-8 they have up to three
 * times as many bytes.
 */
internal const val PARAMS_MAX = 100_000

private const val DAY_MS = 86_400_000L

/**
 * The maximum age of an event that is sent: a day less than the gateway accepts, so that the event
 * does not become too old on the way.
 */
internal const val EVENT_AGE_MS_MAX = 29 * DAY_MS
internal const val FEEDBACK_MAX = 20
internal const val ATTACHMENTS_MAX = 4

/**
 * After so many refusals, a batch is divided, and a single record rests after each: for [REST_MS],
 * times the number of its refusals.
 */
internal const val FEW_ATTEMPTS = 3
internal const val REST_MS = 30_000L

/** The maximum number of times that an event gets a new id. */
internal const val GENERATIONS_MAX = 3
internal const val RETRY_AFTER_MS_MAX = DAY_MS

/**
 * If a response takes longer, the client does not learn the server's clock from it, because the
 * time in a slow response is too uncertain.
 */
internal const val ROUND_TRIP_MS_MAX = 8000L

/**
 * Maximum nesting of the params of an event. The gateway refuses a request that is nested by more
 * than 32, of which the batch, its list and the event are three.
 */
internal const val JSON_DEPTH_MAX = 24
