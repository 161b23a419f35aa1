package intake.client

import java.io.IOException

/**
 * Where records wait. Used by the threads of the client only, one call at a time. Names and keys
 * consist of letters, digits, `.`, `-` and `_`. What was written survives the end of the process,
 * and also a power failure once `rename`, `create`, `set` or `sync` has returned. Every call may
 * throw an [IOException].
 */
internal interface Storage {
    /** All names and keys, but not those of another process that is known to run. */
    fun list(): List<String>

    /** What a name has; null: it does not exist. */
    fun read(name: String): String?

    /**
     * Adds text at the end of `name`, and takes numbers for its lines from the counter of the
     * device, which starts at 1.
     *
     * @param isNew `name` does not exist yet
     * @param count how many numbers are taken
     * @param print the text, by the first of the numbers
     * @return false: it is not new, but does not exist, because another process has renamed it
     */
    fun append(name: String, isNew: Boolean, count: Int, print: (first: Long) -> String): Boolean

    /** Makes a name with all of its text. */
    fun create(name: String, text: String)

    /**
     * At once: of several processes that rename the same name, one succeeds.
     *
     * @return false: `from` does not exist
     */
    fun rename(from: String, to: String): Boolean

    /** Removes a name or a key. Nothing happens if it does not exist. */
    fun remove(name: String)

    fun get(key: String): ByteArray?

    /** @param parts the value, in pieces */
    fun set(key: String, vararg parts: ByteArray)

    /** Makes durable what was appended. */
    fun sync()

    fun close()
}

/** What a server or a proxy answered. */
internal class Answer(
    val status: Int,
    val body: String,
    /** The header fields `Date` and `Retry-After`. */
    val date: String? = null,
    val retryAfter: String? = null,
)

/** @property path from the prefix, such as `/log/batch` */
internal sealed class OutgoingRequest(val path: String) {
    class Json(path: String, val body: String) : OutgoingRequest(path)

    class Form(path: String, val payload: String, val attachments: List<StoredAttachment>) :
        OutgoingRequest(path)
}

/**
 * Throws an [IOException] if there was no complete answer; ends each request after a time of its
 * own.
 */
internal typealias Transport = (OutgoingRequest) -> Answer

internal interface TimeSource {
    /** The clock of the device, in milliseconds since 1970. */
    fun now(): Long

    /** Milliseconds since a moment that does not change while the process runs. */
    fun monotonic(): Long
}

/** What differs between platforms and tests. */
internal class Ports(
    val storage: Storage,
    val transport: Transport,
    val time: TimeSource,
    /** Properties of the device. */
    val device: () -> Map<String, Any?>,
)
