package intake.client

import java.io.IOException

/**
 * Stores the records that wait. Only threads of the client use it, one call at a time. Names and
 * keys consist of letters, digits, `.`, `-` and `_`. What was written survives the end of the
 * process. After `rename`, `create`, `set` or `sync` it also survives a power failure. Every call
 * may throw an [IOException].
 */
internal interface Storage {
    /** All names and keys, except those of another process that is known to be running. */
    fun list(): List<String>

    /** @return the text that is stored under `name`; null if `name` does not exist */
    fun read(name: String): String?

    /**
     * Adds text at the end of `name`, and reserves numbers for its lines from the device's counter,
     * which starts at 1. Stores the whole text or, if it throws, nothing of it.
     *
     * @param isNew whether `name` is to be created
     * @param count how many numbers are reserved
     * @param print returns the text to add. `first` is the first reserved number; 0 if the lines
     *   get no numbers. May be called again if the text that it returned was not stored
     * @return false if `name` should exist but does not, because another process has renamed it
     */
    fun append(name: String, isNew: Boolean, count: Int, print: (first: Long) -> String): Boolean

    /** Creates `name` with its complete text. */
    fun create(name: String, text: String)

    /**
     * Renames in one step: if several processes rename the same name, only one succeeds.
     *
     * @return false if `from` does not exist
     */
    fun rename(from: String, to: String): Boolean

    /** Removes a name or a key. Nothing happens if it does not exist. */
    fun remove(name: String)

    /** @return the value of a key; null if it does not exist */
    fun get(key: String): ByteArray?

    /** Whether the key has a value, even one that cannot be read now. */
    fun has(key: String): Boolean

    /** @param parts the value, in pieces */
    fun set(key: String, vararg parts: ByteArray)

    /** Makes everything that was appended survive a power failure. */
    fun sync()

    /** Ends the use of the storage: every later call throws. */
    fun close()
}

/** The response of a server or a proxy. */
internal class Answer(
    val status: Int,
    val body: String,
    /** The header fields `Date` and `Retry-After`. */
    val date: String? = null,
    val retryAfter: String? = null,
)

/**
 * A request to the gateway.
 *
 * @property path the path below the base URL that `prefixOf` returns, such as `/log/batch`
 */
internal sealed class OutgoingRequest(val path: String) {
    class Json(path: String, val body: String) : OutgoingRequest(path)

    class Form(path: String, val payload: String, val attachments: List<StoredAttachment>) :
        OutgoingRequest(path)
}

/**
 * Sends a request. Throws an [IOException] if no complete response arrives within the timeout of
 * the transport.
 */
internal typealias Transport = (OutgoingRequest) -> Answer

internal interface TimeSource {
    /** The clock of the device, in milliseconds since 1970. */
    fun now(): Long

    /** Milliseconds since a moment that does not change while the process runs. */
    fun monotonic(): Long
}

/** The parts that differ between platforms and that tests replace. */
internal class Ports(
    val storage: Storage,
    val transport: Transport,
    val time: TimeSource,
    val device: () -> Map<String, Any?>,
)
