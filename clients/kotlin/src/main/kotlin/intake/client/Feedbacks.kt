package intake.client

import kotlin.concurrent.withLock

private const val PREFIX = "feedback-"

/** An image as it is stored. */
internal class StoredAttachment(val name: String, val type: String, val data: ByteArray)

/** Whether this is the key of a feedback. The prefix alone is no proof: other files may have it. */
internal fun isFeedback(key: String): Boolean =
    key.startsWith(PREFIX) && isUuid(key.substring(PREFIX.length))

/**
 * The feedback that waits to be sent. Each feedback is one value in storage, with its attachments.
 * Log events never displace it.
 */
internal class Feedbacks(private val core: Core) {
    private class Entry(val key: String, failures: Int = 0) : Waiting(failures)

    private val entries = ArrayList<Entry>()

    /**
     * Stores a feedback, to be sent later.
     *
     * @param payload as JSON
     * @return false if too much feedback waits already
     */
    fun add(id: String, payload: String, attachments: List<StoredAttachment>): Boolean =
        core.io.withLock {
            if (count() >= FEEDBACK_MAX) return false
            val key = PREFIX + id
            val head =
                mapOf(
                    "payload" to payload,
                    "attachments" to
                        attachments.map {
                            mapOf("name" to it.name, "type" to it.type, "length" to it.data.size)
                        },
                )
            val parts = listOf("${Json.print(head)}\n".toByteArray()) + attachments.map { it.data }
            core.storage.set(key, *parts.toTypedArray())
            synchronized(core.memory) { entries.add(Entry(key)) }
        }

    /** Parses a stored feedback. Returns null if it is damaged. */
    private fun parse(value: ByteArray): OutgoingRequest.Form? =
        try {
            val end = value.indexOf('\n'.code.toByte())
            val head = Json.parseObject(String(value, 0, end))
            var from = end + 1
            val attachments =
                (head["attachments"] as List<*>).map {
                    val (name, type, length) = (it as Map<*, *>).values.toList()
                    val to = from + (length as Long).toInt()
                    val data = value.copyOfRange(from, to)
                    from = to
                    StoredAttachment(name as String, type as String, data)
                }
            OutgoingRequest.Form("/feedback", printPayload(head["payload"] as String), attachments)
        } catch (_: RuntimeException) {
            // The value is damaged: a cast failed, or an index was out of range.
            null
        }

    private fun printPayload(stored: String): String =
        Json.print(core.accepted(Json.parseObject(stored)))

    /** Takes over feedback of earlier runs. `keys` are all names and keys in storage, ascending. */
    fun adopt(keys: List<String>) =
        synchronized(core.memory) {
            val known = entries.mapTo(HashSet()) { it.key }
            entries.addAll(0, keys.filter { isFeedback(it) && it !in known }.map { Entry(it, failures = 1) })
        }

    /**
     * Sends the first feedback of the list that can be sent. Returns null if there is none. If the
     * feedback cannot be read, keeps it and throws an IOException. If the server refuses a form as
     * too large, the form is sent again without its images, so that at least the text arrives.
     */
    fun send(): Sent? {
        val entry = oldest() ?: return null
        // Moves the feedback to the end of the list, so that it does not block other feedback.
        synchronized(core.memory) { if (entries.remove(entry)) entries.add(entry) }
        val value = core.io.withLock { core.storage.get(entry.key) }
        // If there is no value, another run has sent the feedback.
        if (value != null) {
            val form = parse(value)
            if (form == null) core.drops.add("damaged", 1)
            else
                send(entry, form)?.let {
                    return it
                }
        }
        synchronized(core.memory) { entries.remove(entry) }
        core.io.withLock { core.storage.remove(entry.key) }
        return Sent()
    }

    /** Sends a feedback. Returns null if its result is final; otherwise how sending continues. */
    private fun send(entry: Entry, form: OutgoingRequest.Form): Sent? {
        var attempted = attemptRequest(core, form)
        if (attempted.decision == Decision.SPLIT && form.attachments.isNotEmpty()) {
            core.drops.add(attempted.code, form.attachments.size)
            val text = OutgoingRequest.Form(form.path, form.payload, emptyList())
            attempted = attemptRequest(core, text)
        }
        val retry = Sent(attempted.retryAfterMs)
        if (attempted.body != null) {
            val body = Json.parseObject(attempted.body)
            // A body without an id comes from a proxy.
            return if (body["id"] is String) null.also { countRefused(body) } else retry
        }
        return when (attempted.decision) {
            Decision.STOP -> Sent(stop = attempted.code)
            Decision.RETRY -> retry
            Decision.FEW -> Sent(attempted.retryAfterMs, refused = entry)
            Decision.SPLIT,
            Decision.DROP -> {
                core.drops.add(attempted.code, 1)
                null
            }
        }
    }

    /** Counts the images that the server has refused although it has stored their feedback. */
    private fun countRefused(body: Map<String, Any?>) {
        for (result in body["attachments"] as? List<*> ?: return) {
            val (status, code) = (result as? Map<*, *>).let { it?.get("status") to it?.get("code") }
            if (status != "stored") core.drops.add(code as? String ?: "unknown", 1)
        }
    }

    private fun oldest(): Entry? = synchronized(core.memory) { nextOf(entries) }

    fun canSend(): Boolean = oldest() != null

    fun clear() = synchronized(core.memory) { entries.clear() }

    fun count(): Int = synchronized(core.memory) { entries.size }
}
