package intake.client

/** A log event as `beforeSend` receives it. */
class LogEvent(@JvmField val event: String, @JvmField val params: Map<String, Any?>)

/** The options besides the address, the key and the application. */
class IntakeOptions internal constructor() {
    /** The UUID that identifies the device. Default: the client makes one and keeps it. */
    var deviceUuid: String? = null

    /** The id of the user. Without one, the device's UUID is sent. `identify` changes the user. */
    var userId: String? = null

    /** Properties of the device. They replace properties of the same name that the client finds. */
    var device: Map<String, Any?> = emptyMap()

    /**
     * How long an event waits, in milliseconds, so that later events can be sent in the same
     * request.
     */
    var flushIntervalMs: Long = 5000

    /** The maximum number of events in a request, 1 to 500. */
    var batchEntriesMax: Int = 500

    /**
     * The maximum size of all log events that wait, in bytes. If there are more, the oldest are
     * dropped.
     */
    var storageBytesMax: Long = 4_000_000

    /** The maximum number of log events that wait. If there are more, the oldest are dropped. */
    var storageEventsMax: Int = 5000

    /** The shortest pause before a request is repeated, in milliseconds. */
    var retryMsMin: Long = 1000

    /** The longest pause before a request is repeated, in milliseconds. */
    var retryMsMax: Long = 900_000

    /**
     * Changes an event before it is kept; null drops it. `log` waits for this function, so it must
     * be fast.
     */
    var beforeSend: ((LogEvent) -> LogEvent?)? = null

    /**
     * Called whenever the client has dropped records, with the reason and the number of records. It
     * is called on a thread of the client.
     */
    var onDrop: ((reason: String, count: Int) -> Unit)? = null
}

/**
 * An image. `type` and `name` are only hints: the gateway detects the type from the bytes.
 *
 * @param read returns the bytes; called once, on a thread of the client
 */
class Attachment(
    internal val name: String = "image",
    internal val type: String = "application/octet-stream",
    internal val read: () -> ByteArray,
) {
    @JvmOverloads
    constructor(
        data: ByteArray,
        name: String = "image",
        type: String = "application/octet-stream",
    ) : this(name, type, { data })
}

/**
 * The result of keeping a feedback.
 *
 * @property isKept false if the feedback is not kept. `onDrop` then gets the reason, except after
 *   `optOut` or `shutdown`
 */
class FeedbackReceipt(@JvmField val id: String, @JvmField val isKept: Boolean)

/** Why a request failed. */
class SendError
internal constructor(
    /** When it failed, in ISO 8601. */
    @JvmField val time: String,
    /** The status of the response; 0 if there was none. */
    @JvmField val status: Int,
    /**
     * The error code in the response. If it has none: `http_` and the status, or `http_0` if there
     * was no response.
     */
    @JvmField val code: String,
    /** What the server or the platform said about it. */
    @JvmField val message: String?,
)

/** The state of the client: how many records wait and how many were dropped. */
class Stats
internal constructor(
    /** Log events that wait to be sent. */
    @JvmField val pendingLogs: Int,
    /** Feedback that waits to be sent. */
    @JvmField val pendingFeedback: Int,
    /**
     * Why nothing more is sent before the next start, such as `unauthorized`; null if sending
     * continues.
     */
    @JvmField val stopped: String?,
    /** The last request that failed; null if none has failed since the client started. */
    @JvmField val lastError: SendError?,
    /** The number of records that were dropped since the client started, by reason. */
    @JvmField val dropped: Map<String, Int>,
    /** Size of the log events that wait, in bytes. */
    @JvmField val storageBytes: Long,
    /** Whether `optOut` is in effect. */
    @JvmField val isOptedOut: Boolean,
    /**
     * Milliseconds that are added to the device's clock; 0 if the clock is right or the server's
     * time is not known.
     */
    @JvmField val clockOffsetMs: Long,
)
