package intake.client

import java.util.concurrent.locks.ReentrantLock

private val refusedForm = Regex("\"(?:/payload)?/device/(\\w+)")

/**
 * What all classes of one client share.
 *
 * There are two locks; a thread that needs both takes `io` first. `io` guards the storage, and only
 * threads of the client take it. `memory` guards what is in memory. A thread holds `memory` only
 * for microseconds. The app's threads take only `memory`, so they never wait for a disk.
 */
internal class Core(
    val bundleIdentifier: String,
    val options: IntakeOptions,
    val ports: Ports,
    /** Runs a task on a thread of the client. */
    val execute: (() -> Unit) -> Unit,
) {
    val io = ReentrantLock()
    val memory = Any()

    /** The platform's storage, with a fallback to memory. */
    val storage: Storage = FallbackStorage(ports.storage)
    val clock = Clock(ports.time)

    /** Guarded by `memory`. */
    val droppedNames = DroppedNames(clock)

    /**
     * Guarded by `io`. True after the end of the client. The client then neither sends nor changes
     * its records, because other clients may have taken them over.
     */
    var hasEnded = false
    val drops = Drops { reason, count -> options.onDrop?.let { execute { it(reason, count) } } }
    private val uuids = Uuids()

    /**
     * The name of this run of the client. Only threads of the client may use this property, because
     * its first use reads the id of the process from `/proc`.
     */
    val run: String by lazy { newId() + processSuffix() }

    fun newId(): String = synchronized(memory) { uuids.next(clock.now()) }

    /**
     * Guarded by `memory`. The UUID that is stored with records. Empty until it is known for good.
     */
    var deviceUuid = options.deviceUuid ?: ""

    /**
     * Guarded by `memory`. The UUID that is sent with records that have none. Empty until the
     * client has started; nothing is sent before. Until the storage can be read, it is one that
     * this run has made.
     */
    var sentUuid = ""

    /** Guarded by `memory`. */
    var lastError: SendError? = null

    /** Guarded by `memory`. The number of refusals in a row. */
    var refusals = 0

    fun isStarted(): Boolean = synchronized(memory) { sentUuid != "" }

    /** Guarded by `memory`. The properties of the device that the server has refused. */
    private val refused = HashSet<String>()

    /**
     * Leaves out of later requests the properties of the device that an error response points to.
     * In the response to a form, the pointers begin with the name of the part.
     *
     * @return whether at least one of them is new
     */
    fun refuse(problem: String): Boolean {
        val names = refusedForm.findAll(problem).mapTo(HashSet()) { it.groupValues[1] }
        return synchronized(memory) { refused.addAll(names) }
    }

    /**
     * The fields of a request, without the properties of the device that the server has refused.
     * Records that were made before the device's UUID was known get it here.
     */
    fun accepted(fields: Map<String, Any?>): Map<String, Any?> =
        synchronized(memory) {
            val device = (fields["device"] as? Map<*, *>)?.minus(refused)
            val identity = mapOf("device_uuid" to sentUuid, "unique_user_id" to sentUuid)
            identity + fields + ("device" to (device ?: emptyMap<String, Any?>()))
        }

    /** Guarded by `memory`. Null until it is known. */
    var device: Map<String, Any?>? = null

    /**
     * The fields that describe the sender of a record that is made now.
     *
     * @param user if empty, the UUID of the device is sent as the user
     * @param isOfFeedback whether to include all properties of the device, not only those of log
     * events
     */
    fun senderOf(user: String, isOfFeedback: Boolean): Map<String, Any?> =
        synchronized(memory) {
            val sender = LinkedHashMap<String, Any?>()
            sender["bundle_identifier"] = bundleIdentifier
            device?.let { sender["device"] = if (isOfFeedback) it else logDevice(it) }
            if (deviceUuid != "") sender["device_uuid"] = deviceUuid
            val owner = user.ifEmpty { deviceUuid }
            if (owner != "") sender["unique_user_id"] = owner
            sender
        }
}
