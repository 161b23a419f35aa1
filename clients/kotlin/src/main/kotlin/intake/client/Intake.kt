package intake.client

import java.io.IOException
import java.util.concurrent.Future
import kotlin.concurrent.withLock

private const val DEVICE_KEY = "device"
private const val OPT_OUT_KEY = "opted-out"
private const val DROPPED_KEY = "dropped"
private const val FOREVER = Long.MAX_VALUE

/**
 * Sends log events and feedback, each exactly once.
 *
 * All methods may be called at any time, in any order, on any thread; none throws, and none uses a
 * file or the network on the thread of its caller. Methods that take longer return a [Future],
 * which never fails and may be ignored.
 */
class Intake
internal constructor(
    bundleIdentifier: String,
    private val options: IntakeOptions,
    private val worker: Worker,
    private val ports: Ports,
) {
    private val core = Core(bundleIdentifier, options, ports, worker::execute)
    private val storage = core.storage
    private val drops = core.drops
    private val logs = LogQueue(core)
    private val feedbacks = Feedbacks(core)
    private val logSender = LogSender(core, logs)
    private val logLoop = SendLoop(core, worker::schedule, ::sendLogs, ::onPause)
    private val feedbackLoop = SendLoop(core, worker::schedule, ::sendFeedback, ::onPause)

    /** Undoes the platform's registrations when the client ends. */
    internal var onEnd: () -> Unit = {}

    /** Guarded by `io`. Whether the storage was read. */
    private var isLoaded = false

    /** Guarded by `io`. When the storage could first not be read, by the monotonic clock. */
    private var failingSince: Long? = null

    /** Guarded by `io`. */
    private var isStartScheduled = false

    /** Guarded by `io`. Whether `drops` includes the counts that earlier runs stored. */
    private var hasOldDrops = false

    // The following fields are guarded by `memory`.
    private var user = validUser(options.userId)
    private var isOptedOut = false

    /** True after `optOut`, false after `optIn`, null if the app has called neither in this run. */
    private var wantsOut: Boolean? = null
    private var isShut = false
    private var stopped: String? = null
    private var isWriteScheduled = false
    private var flushTimer: Future<*>? = null

    /** The results of waiting `flush` calls. They are set when nothing more can be sent. */
    private val waiting = ArrayList<Promised<Int>>()

    init {
        val uuid = options.deviceUuid
        require(bundleIdentifier != "") { "Intake needs a bundleIdentifier" }
        require(uuid == null || isUuid(uuid)) { "deviceUuid is a UUID" }
        worker.execute(::readDevice)
        worker.execute(::start)
    }

    /**
     * Keeps an event and sends it later. The call takes microseconds and waits for nothing.
     *
     * @param params texts, numbers, booleans, null, lists, maps, dates and throwables; other values
     *   are sent as their `toString`
     * @return the id of the event; null if the event is not kept, because the user has opted out,
     *   the client is shut down, `beforeSend` dropped it, a rule of the operator drops events with
     *   this name, or it is invalid. If it is invalid, `onDrop` gets the reason
     */
    @JvmOverloads
    fun log(event: String, params: Map<String, Any?> = emptyMap()): String? {
        if (!isOn()) return null
        try {
            var sent = LogEvent(event, params)
            options.beforeSend?.let { sent = it(sent) ?: return null }
            val text = Json.print(sent.params)
            if (sent.event.isEmpty() || sent.event.length > IDENTIFIER_MAX)
                return drop("invalid_event")
            if (text.length > PARAMS_MAX) return drop("too_large")
            val isLeftOut =
                synchronized(core.memory) { core.droppedNames.leavesOut(sent.event) }
            return if (isLeftOut) null else add(sent.event, text)
        } catch (_: Throwable) {
            // `beforeSend` threw an exception or an error, such as that of `TODO()`.
            return drop("invalid_event")
        }
    }

    private fun isOn() = synchronized(core.memory) { !isOptedOut && !isShut }

    private fun drop(reason: String): Nothing? {
        drops.add(reason, 1)
        synchronized(core.memory) { scheduleWrite() }
        return null
    }

    private fun add(event: String, params: String): String? =
        synchronized(core.memory) {
            if (isOptedOut || isShut) return null
            val nowMs = core.clock.now()
            val offset = core.clock.era().offset
            val id = core.newId()
            logs.add(printLine(id, event, params, if (offset == 0L) 0 else nowMs - offset), user)
            scheduleWrite()
            if (flushTimer == null)
                flushTimer = worker.schedule(options.flushIntervalMs, ::flushSoon)
            id
        }

    /**
     * Keeps a feedback, with up to four images, and sends it.
     *
     * @return resolves when the client has stored the feedback on the device, or has decided not to
     *   keep it
     */
    @JvmOverloads
    fun feedback(
        text: String,
        email: String = "",
        attachments: List<Attachment> = emptyList(),
    ): Future<FeedbackReceipt> {
        val feedback = LinkedHashMap<String, Any?>()
        val owner: String
        synchronized(core.memory) {
            feedback["id"] = core.newId()
            feedback["timestamp"] = printIso(core.clock.now())
            owner = user
        }
        feedback["text"] = text
        feedback["email"] = email
        feedback["attachments"] = emptyList<Any?>()
        val id = feedback["id"] as String
        val receipt = Promised(FOREVER) { FeedbackReceipt(id, false) }
        worker.execute {
            val isKept = keepFeedback(id, owner, feedback, attachments.toList())
            receipt.complete(FeedbackReceipt(id, isKept))
        }
        if (!isOn()) receipt.giveUp()
        return receipt
    }

    private fun keepFeedback(
        id: String,
        owner: String,
        feedback: Map<String, Any?>,
        attachments: List<Attachment>,
    ): Boolean {
        start()
        readDevice()
        if (!isOn()) return false
        try {
            if (feedback["text"] == "") {
                drop("invalid_feedback")
                return false
            }
            val payload = Json.print(core.senderOf(owner, true) + ("feedback" to feedback))
            val images = attachments.take(ATTACHMENTS_MAX).mapNotNull(::read)
            core.io.withLock {
                // `optOut` or `shutdown` may have been called after `feedback`.
                if (!isOn()) return false
                if (feedbacks.add(id, payload, images)) {
                    feedbackLoop.wake()
                    return true
                }
            }
            drop("feedback_full")
        } catch (_: Throwable) {
            drop("invalid_feedback")
        }
        return false
    }

    /**
     * Reads an image. Returns null if it cannot be read, so that the feedback is sent without this
     * image.
     */
    private fun read(attachment: Attachment): StoredAttachment? =
        try {
            StoredAttachment(attachment.name, attachment.type, attachment.read())
        } catch (_: Throwable) {
            drop("unreadable_attachment")
        }

    /** Sets the user of all later records; null if there is no user. */
    fun identify(userId: String?) = synchronized(core.memory) { user = validUser(userId) }

    /**
     * Stores all events that were logged before this call.
     *
     * @return resolves when they survive even a power failure
     */
    fun stored(): Future<Unit> {
        val stored = Promised(FOREVER) {}
        if (isShutDown()) stored.giveUp()
        worker.execute {
            saveNow()
            stored.giveUp()
        }
        return stored
    }

    private fun isShutDown() = synchronized(core.memory) { isShut }

    /**
     * Sends the records that wait.
     *
     * @return the number of records that remain; resolves after `timeoutMs` at the latest
     */
    @JvmOverloads
    fun flush(timeoutMs: Long = 5000): Future<Int> {
        val promised = Promised(timeoutMs, ::left)
        drain(promised)
        return promised
    }

    private fun left() = logs.count() + feedbacks.count()

    private fun drain(done: Promised<Int>) {
        if (isShutDown()) done.giveUp()
        worker.execute {
            start()
            logs.close()
            save()
            synchronized(core.memory) {
                waiting.removeAll { it.isDone() }
                waiting.add(done)
            }
            logLoop.wake()
            feedbackLoop.wake()
            settleWaiting()
        }
    }

    /**
     * Flushes and ends the client. Remaining records are sent after the next start. Calls after
     * this one do nothing.
     *
     * @return the number of records that remain
     */
    @JvmOverloads
    fun shutdown(timeoutMs: Long = 5000): Future<Int> {
        val promised = Promised(timeoutMs + 1000, ::left)
        val flushed = Promised(timeoutMs, ::left)
        flushed.then = { end(promised) }
        worker.schedule(timeoutMs, flushed::giveUp)
        drain(flushed)
        return promised
    }

    private fun end(done: Promised<Int>) {
        synchronized(core.memory) {
            isShut = true
            flushTimer?.cancel(false)
        }
        logLoop.close()
        feedbackLoop.close()
        core.io.withLock {
            saveNow()
            storeConsent()
            core.hasEnded = true
            storage.close()
        }
        onEnd()
        done.giveUp()
        worker.shutdown()
    }

    /** Deletes all records that wait, and keeps no new ones, even after a restart. */
    fun optOut(): Future<Unit> {
        synchronized(core.memory) {
            isOptedOut = true
            wantsOut = true
        }
        return applyConsent()
    }

    /** Undoes `optOut`, so that later records are kept and sent. */
    fun optIn(): Future<Unit> {
        synchronized(core.memory) { wantsOut = false }
        return applyConsent()
    }

    private fun applyConsent(): Future<Unit> {
        val done = Promised(FOREVER) {}
        if (isShutDown()) done.giveUp()
        worker.execute {
            start()
            core.io.withLock(::storeConsent)
            settleWaiting()
            done.giveUp()
        }
        return done
    }

    /**
     * Puts the last call of `optOut` or `optIn` into effect. An earlier call does not count, even
     * if its task runs later. The caller must hold `io`.
     */
    private fun storeConsent() {
        val isOut = synchronized(core.memory) { wantsOut } ?: return
        if (isOut) {
            writeValue(OPT_OUT_KEY, true)
            removeAll()
        } else storage.remove(OPT_OUT_KEY)
        synchronized(core.memory) { isOptedOut = wantsOut == true }
    }

    /** The state of the client: how many records wait and how many were dropped. */
    fun stats(): Stats =
        synchronized(core.memory) {
            Stats(
                pendingLogs = logs.count(),
                pendingFeedback = feedbacks.count(),
                stopped = stopped,
                lastError = core.lastError,
                dropped = drops.total(),
                storageBytes = logs.bytes(),
                isOptedOut = isOptedOut,
                clockOffsetMs = core.clock.era().offset,
            )
        }

    /**
     * Sends at once. Called when the network is available again, or when the app returns to the
     * foreground.
     */
    internal fun wake() {
        logLoop.wake(isUrgent = true)
        feedbackLoop.wake(isUrgent = true)
    }

    /**
     * Stores the records that are only in memory, and syncs them to disk, on the caller's thread.
     */
    internal fun saveNow() {
        save()
        core.io.withLock { storage.sync() }
    }

    private fun sendFeedback(): Sent? = if (core.isStarted()) feedbacks.send() else null

    private fun sendLogs(): Sent? {
        if (!core.isStarted()) return null
        val sent = logSender.send()
        // Reports dropped records now, because the server responds.
        if (sent != null && sent.isSettled) reportDrops()
        return sent
    }

    private fun reportDrops() {
        if (!isOn()) return
        val counts = drops.takeUnreported()
        if (counts.isNotEmpty()) add("intake.dropped", Json.print(counts))
    }

    private fun onPause(stop: String?) {
        if (stop != null) {
            synchronized(core.memory) { stopped = stop }
            logLoop.close()
            feedbackLoop.close()
        }
        settleWaiting()
    }

    private fun settleWaiting() {
        val settled =
            synchronized(core.memory) {
                if (logLoop.isRunning() || feedbackLoop.isRunning()) return
                if (stopped == null && (logs.oldest() != null || feedbacks.canSend())) return
                ArrayList(waiting).also { waiting.clear() }
            }
        for (one in settled) one.giveUp()
    }

    /**
     * Takes over the records of earlier runs, once. If the storage cannot be read, tries again
     * until it can, because only a successful read shows that something is absent.
     */
    private fun start() {
        core.io.withLock {
            if (isLoaded || core.hasEnded) return
            try {
                load()
            } catch (_: IOException) {
                val now = core.ports.time.monotonic()
                val since = failingSince ?: now.also { failingSince = it }
                if (now - since >= START_MS_MAX) begin()
                startAgain()
            }
        }
    }

    private fun startAgain() {
        if (isStartScheduled) return
        isStartScheduled = true
        worker.schedule(START_AGAIN_MS) {
            core.io.withLock { isStartScheduled = false }
            start()
        }
    }

    private fun load() {
        val kept = readValue(DEVICE_KEY) as? String
        // Only checks whether there is a value, because the value is always true.
        val wasOptedOut = storage.has(OPT_OUT_KEY)
        val names = storage.list().sorted()
        isLoaded = true
        val (known, sent) = synchronized(core.memory) { core.deviceUuid to core.sentUuid }
        if (known == "") {
            val uuid = if (kept != null && isUuid(kept)) kept else sent.ifEmpty { core.newId() }
            if (uuid != kept) writeValue(DEVICE_KEY, uuid)
            synchronized(core.memory) { core.deviceUuid = uuid }
        }
        addOldDrops()
        val isOut =
            synchronized(core.memory) {
                if (wasOptedOut && wantsOut != false) isOptedOut = true
                core.sentUuid = core.deviceUuid
                isOptedOut
            }
        if (isOut) removeAll() else adopt(names)
        begin()
    }

    /** Begins to send. Makes the UUID of the device if it is not known. */
    private fun begin() {
        synchronized(core.memory) {
            if (core.sentUuid == "") core.sentUuid = core.deviceUuid.ifEmpty { core.newId() }
        }
        logLoop.wake()
        feedbackLoop.wake()
    }

    private fun adopt(names: List<String>) {
        logs.adopt(names.filter { parseName(it)?.run != core.run })
        feedbacks.adopt(names)
    }

    /**
     * Adds to `drops`, once, the counts that earlier runs stored. Returns false if these counts
     * cannot be read now. The caller must then not overwrite them.
     */
    private fun addOldDrops(): Boolean {
        if (hasOldDrops) return true
        val dropped =
            try {
                readValue(DROPPED_KEY) as? Map<*, *>
            } catch (_: IOException) {
                return false
            }
        hasOldDrops = true
        for ((reason, count) in dropped.orEmpty()) if (count is Long)
            drops.addUnreported(reason as String, count.toInt())
        return true
    }

    private fun readValue(key: String): Any? =
        try {
            storage.get(key)?.let { Json.parse(String(it)) }
        } catch (_: JsonException) {
            // A damaged value is treated as absent.
            null
        }

    private fun writeValue(key: String, value: Any) =
        storage.set(key, Json.print(value).toByteArray())

    private fun removeAll() {
        logs.clear()
        feedbacks.clear()
        val names =
            try {
                storage.list()
            } catch (_: IOException) {
                emptyList()
            }
        for (name in names) if (parseName(name) != null || isFeedback(name)) storage.remove(name)
    }

    private fun readDevice() {
        val found =
            try {
                ports.device()
            } catch (_: Throwable) {
                // Some devices throw when a property is read.
                emptyMap()
            }
        val device = knownOf(found) + knownOf(options.device)
        synchronized(core.memory) { core.device = device }
    }

    private fun scheduleWrite() {
        if (isWriteScheduled) return
        isWriteScheduled = true
        worker.execute(::save)
    }

    /** Stores the records that are only in memory. */
    private fun save() {
        core.io.withLock {
            synchronized(core.memory) { isWriteScheduled = false }
            start()
            logs.save()
            // Stores the counts of dropped records, so that they can be reported after a restart.
            if (addOldDrops()) drops.changed()?.let { writeValue(DROPPED_KEY, it) }
        }
    }

    private fun flushSoon() {
        synchronized(core.memory) { flushTimer = null }
        logs.close()
        save()
        logLoop.wake()
        // Reads the device again, because its battery level may have changed.
        readDevice()
    }
}

private fun validUser(userId: String?) = (userId ?: "").take(IDENTIFIER_MAX)
