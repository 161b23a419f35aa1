package intake.client

/** A log event, as `beforeSend` gets it. */
class LogEvent(@JvmField val event: String, @JvmField val params: Map<String, Any?>)

/** The options besides the address, the key and the application. */
class IntakeOptions internal constructor() {
    /** Identifies the device: a UUID. Without it the client makes one and keeps it. */
    var deviceUuid: String? = null

    /** Identifies the user. Without it, the device's UUID is sent. `identify` changes it. */
    var userId: String? = null

    /** Properties of the device. They replace those of the same name that the client finds. */
    var device: Map<String, Any?> = emptyMap()

    /** How long an event waits for others that are sent in the same request, in milliseconds. */
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

    /** Changes an event before it is kept; null drops it. It must be fast: `log` calls it. */
    var beforeSend: ((LogEvent) -> LogEvent?)? = null

    /**
     * Called with the reason and the number of records whenever the client gives up records, on a
     * thread of the client.
     */
    var onDrop: ((reason: String, count: Int) -> Unit)? = null
}

/**
 * An image. `type` and `name` are only hints: the gateway checks the bytes.
 *
 * @param read called once, on a thread of the client
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
 * @property isKept false if the feedback was refused at once; `onDrop` then got the reason
 */
class FeedbackReceipt(@JvmField val id: String, @JvmField val isKept: Boolean)

/** How many records wait, and how many were given up. */
class Stats
internal constructor(
    /** Log events that wait to be sent. */
    @JvmField val pendingLogs: Int,
    /** Feedback that waits to be sent. */
    @JvmField val pendingFeedback: Int,
    /**
     * Why nothing is sent until the next start, such as `unauthorized`; null while records are
     * sent.
     */
    @JvmField val stopped: String?,
    /** Records that were given up since the start, by reason. */
    @JvmField val dropped: Map<String, Int>,
    /** Size of the log events that wait, in bytes. */
    @JvmField val storageBytes: Long,
    /** Whether `optOut` is in effect. */
    @JvmField val isOptedOut: Boolean,
    /**
     * The milliseconds that are added to the device's clock; 0 if it is right, or if the time is
     * unknown.
     */
    @JvmField val clockOffsetMs: Long,
)
