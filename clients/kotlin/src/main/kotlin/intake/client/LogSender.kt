package intake.client

/**
 * The result of one entry of a batch.
 *
 * @property code why the entry was rejected; null if it was accepted, or dropped by a rule
 */
private class EntryResult(val code: String?, val isDropped: Boolean = false)

/** Sends the segments of the queue. */
internal class LogSender(private val core: Core, private val queue: LogQueue) {
    /** Sends the oldest segment; returns null if none can be sent. */
    fun send(): Sent? {
        val segment = queue.take() ?: return null
        try {
            return send(segment)
        } finally {
            queue.release(segment)
        }
    }

    private fun send(segment: Segment): Sent {
        val wasOpen = segment.mayBeStored
        val stored = queue.attempt(segment) ?: return Sent()
        val newest = timeOfUuid(idOf(stored.lines.last())) + segment.shiftMs
        if (newest < synchronized(core.memory) { core.clock.now() } - EVENT_AGE_MS_MAX) {
            core.drops.add("expired", stored.lines.size)
            queue.replace(segment)
            return Sent()
        }
        segment.mayBeStored = true
        val body = printBatch(stored, segment.shiftMs)
        val attempted = attemptRequest(core, OutgoingRequest.Json("/log/batch", body))
        return settle(segment, stored, attempted, wasOpen)
    }

    /**
     * Handles the result of an attempt. Returns how sending continues.
     *
     * @param wasOpen whether an earlier attempt may have stored events
     */
    private fun settle(
        segment: Segment,
        stored: StoredSegment,
        attempted: Attempted,
        wasOpen: Boolean,
    ): Sent {
        val count = stored.lines.size
        val results: List<EntryResult>
        if (attempted.body != null) {
            // Intake returns one result per entry. If the number differs, a proxy has responded,
            // even if the status is 201 or 207.
            results = readResults(attempted.body, count) ?: return Sent(attempted.retryAfterMs)
        } else {
            if (attempted.isDefinite) segment.mayBeStored = wasOpen
            when (attempted.decision) {
                Decision.STOP -> return Sent(stop = attempted.code)
                Decision.RETRY -> return Sent(attempted.retryAfterMs)
                Decision.FEW -> {
                    // Of events that are refused together, one may be the cause. After many
                    // refusals, a single event finds out soonest whether everything is refused.
                    val isProbe = synchronized(core.memory) { core.refusals > FEW_ATTEMPTS }
                    if (count > 1 && (isProbe || segment.failures + 1 >= FEW_ATTEMPTS))
                        split(segment, stored, if (isProbe) 1 else count / 2)
                    return Sent(attempted.retryAfterMs, refused = segment)
                }
                Decision.SPLIT ->
                    if (count > 1) {
                        split(segment, stored, count / 2)
                        return Sent()
                    }
                Decision.DROP -> Unit
            }
            results = List(count) { EntryResult(attempted.code) }
        }
        settleEntries(segment, stored, results, wasOpen)
        return Sent()
    }

    /**
     * Removes the entries whose results are final. Events that were rejected because the device's
     * clock was wrong get new ids.
     */
    private fun settleEntries(
        segment: Segment,
        stored: StoredSegment,
        results: List<EntryResult>,
        wasOpen: Boolean,
    ) {
        synchronized(core.memory) {
            core.droppedNames.learn(stored.lines) { at ->
                results[at].run { if (code == null) isDropped else null }
            }
        }
        val context = stored.context
        val shiftMs =
            synchronized(core.memory) { core.clock.shiftFor(context.era, context.run == core.run) }
        val mayShift =
            !wasOpen && segment.generation < GENERATIONS_MAX && shiftMs != segment.shiftMs
        val again =
            stored.lines.filterIndexed { index, _ ->
                val code = results[index].code ?: return@filterIndexed false
                val isOutOfRange = code == "id_time_out_of_range"
                val isAgain = isOutOfRange && mayShift
                if (!isAgain) core.drops.add(if (isOutOfRange) "expired" else code, 1)
                isAgain
            }
        if (again.isEmpty()) return queue.replace(segment)
        val next = StoredSegment(context, again)
        val part = Segment(segment.key, segment.generation + 1, CLOSED)
        queue.replace(segment, listOf(partOf(part, next)))
    }

    private fun split(segment: Segment, stored: StoredSegment, middle: Int) {
        val lines = stored.lines
        val halves = listOf(lines.subList(0, middle), lines.subList(middle, lines.size))
        queue.replace(
            segment,
            halves.mapIndexed { index, half ->
                val part =
                    Segment(
                        segment.key + index,
                        state = ATTEMPTED,
                        shiftMs = segment.shiftMs,
                        mayBeStored = segment.mayBeStored,
                    )
                // It is sent next.
                if (index == 0) part.failures = 0
                partOf(part, StoredSegment(stored.context, half))
            },
        )
    }

    private fun partOf(part: Segment, stored: StoredSegment): Pair<Segment, StoredSegment> {
        part.count = stored.lines.size
        part.bytes = textBytes(printSegment(stored)).toLong()
        return part to stored
    }

    /**
     * Prints the body of a batch. Adds the properties of the sender that were not yet known when
     * the first event of the batch was logged.
     */
    private fun printBatch(stored: StoredSegment, shiftMs: Long): String {
        val context = stored.context
        val head = Json.print(core.accepted(core.senderOf("", false) + context.sender))
        val logs =
            stored.lines.joinToString(",") { shiftLine(it, shiftMs, context.era.offset != 0L) }
        return "${head.dropLast(1)},\"logs\":[$logs]}"
    }

    /** Reads the results of a batch. Returns null unless there is a result for each entry. */
    private fun readResults(body: String, count: Int): List<EntryResult>? {
        val results = Json.parseObject(body)["results"] as? List<*> ?: return null
        if (results.size != count) return null
        return results.map {
            val result = it as? Map<*, *> ?: return null
            when (result["status"] as? String ?: return null) {
                "accepted" -> EntryResult(null)
                // `dropped` is final: a rule of the operator drops such events.
                "dropped" -> EntryResult(null, isDropped = true)
                // A status that this release does not know counts as rejected.
                else -> EntryResult(result["code"] as? String ?: "unknown")
            }
        }
    }
}
