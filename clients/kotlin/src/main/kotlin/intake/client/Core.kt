package intake.client

import java.util.concurrent.locks.ReentrantLock

/**
 * What all parts of one client share.
 *
 * Two locks, always taken in this order: `io` by threads of the client while they use the storage,
 * so that one of them does at a time; and `memory` for microseconds by every thread that reads or
 * changes what is in memory. The app's threads take `memory` only, so they never wait for a disk.
 */
internal class Core(
    val bundleIdentifier: String,
    val options: IntakeOptions,
    val ports: Ports,
    /** Runs it on a thread of the client. */
    val execute: (() -> Unit) -> Unit,
) {
    val io = ReentrantLock()
    val memory = Any()

    /** That of the ports, with a fallback. */
    val storage: Storage = FallbackStorage(ports.storage)
    val clock = Clock(ports.time)
    val drops = Drops { reason, count -> options.onDrop?.let { execute { it(reason, count) } } }
    private val uuids = Uuids()

    /** The name of this run of the client. For its threads only: it asks for the process's id. */
    val run: String by lazy { newId() + processSuffix() }

    fun newId(): String = synchronized(memory) { uuids.next(clock.now()) }

    /** Guarded by `memory`; empty: not known yet. */
    var deviceUuid = options.deviceUuid ?: ""

    /** Guarded by `memory`; null: not known yet. */
    var device: Map<String, Any?>? = null

    /**
     * What a record of now says of its sender.
     *
     * @param user empty: nobody; then the UUID of the device stands for the user
     * @param isOfFeedback with all properties of the device, not only those that log events carry
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
