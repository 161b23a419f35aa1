package intake.client

import java.util.concurrent.locks.ReentrantLock

/**
 * What all parts of one client share.
 *
 * There are two locks, which are always taken in this order. `io` is for the threads of the client:
 * only one of them uses the storage at a time. `memory` is held for microseconds by every thread
 * that reads or changes what is in memory. The app's threads take only `memory`, so they never wait
 * for a disk.
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

    /** The storage of the ports, with a fallback. */
    val storage: Storage = FallbackStorage(ports.storage)
    val clock = Clock(ports.time)

    /**
     * Guarded by `io`. True from the end of the client on: other clients may have taken over its
     * records, so it sends none and changes none.
     */
    var hasEnded = false
    val drops = Drops { reason, count -> options.onDrop?.let { execute { it(reason, count) } } }
    private val uuids = Uuids()

    /**
     * The name of this run of the client. Only the client's threads may read it, because the first
     * access reads the process's id from `/proc`.
     */
    val run: String by lazy { newId() + processSuffix() }

    fun newId(): String = synchronized(memory) { uuids.next(clock.now()) }

    /** Guarded by `memory`. Empty until it is known. */
    var deviceUuid = options.deviceUuid ?: ""

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
