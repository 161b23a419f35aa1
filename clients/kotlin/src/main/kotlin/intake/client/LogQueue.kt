package intake.client

import java.io.IOException
import kotlin.concurrent.withLock

/** The log events that wait: one open segment of this run, and closed segments, oldest first. */
internal class LogQueue(private val core: Core) {
    private val storage = core.storage
    private val clock = core.clock
    private val drops = core.drops
    private val eventsMax = core.options.storageEventsMax
    private val bytesMax = core.options.storageBytesMax
    private val entriesMax =
        minOf(core.options.batchEntriesMax, ENTRIES_MAX, divideUp(eventsMax.toLong()).toInt())
            .coerceAtLeast(1)
    private val segmentBytes = minOf(SEGMENT_BYTES_MAX.toLong(), divideUp(bytesMax))

    private val segments = ArrayList<Segment>()
    private var open: Segment? = null

    /** The segments that the queue has removed and that are still in storage. */
    private val doomed = ArrayList<Segment>()
    private var count = 0
    private var bytes = 0L

    private fun divideUp(whole: Long) = (whole + SEGMENTS_MIN - 1) / SEGMENTS_MIN

    /**
     * Adds an event to the open segment. `save` stores it. The caller must hold `memory`.
     *
     * @param line from `printLine`
     */
    fun add(line: String, user: String) {
        val era = clock.era()
        val size = textBytes(line) + 20L
        open?.let {
            val memory = it.memory!!
            val hasRoom = it.count < entriesMax && it.bytes + size <= segmentBytes
            if (!hasRoom || memory.era !== era || memory.user != user) close()
        }
        val segment =
            open
                ?: Segment(core.newId(), state = OPEN, memory = SegmentMemory(user, era)).also {
                    open = it
                    insert(segments.size, it)
                }
        segment.memory!!.lines.add(line)
        grow(segment, 1, size)
        while (isFull()) if (!evict()) break
    }

    private fun isFull() = count > eventsMax || bytes > bytesMax

    private fun insert(at: Int, segment: Segment) {
        segment.isKnown = true
        segments.add(at, segment)
        count += segment.count
        bytes += segment.bytes
    }

    private fun grow(segment: Segment, events: Int, size: Long) {
        segment.count += events
        segment.bytes += size
        if (!segment.isKnown) return
        count += events
        bytes += size
    }

    private fun evict(): Boolean {
        val victim = segments.find { !it.isBusy } ?: return false
        drops.add("queue_full", victim.count)
        remove(victim)
        return true
    }

    /**
     * Removes a segment from the queue at once, and from storage on a thread of the client. All
     * such segments are deleted before more events are written, so that storage stays below its
     * limit even if events arrive faster than files are deleted.
     */
    private fun remove(segment: Segment) =
        synchronized(core.memory) {
            forget(segment)
            segment.memory = null
            doomed.add(segment)
            core.execute { core.io.withLock { delete(takeDoomed()) } }
        }

    private fun takeDoomed(): List<Segment> =
        synchronized(core.memory) { ArrayList(doomed).also { doomed.clear() } }

    private fun delete(segments: List<Segment>) {
        for (segment in segments) if (segment.name != "") storage.remove(segment.name)
    }

    private fun forget(segment: Segment) =
        synchronized(core.memory) {
            if (segment.isKnown) {
                segment.isKnown = false
                segments.remove(segment)
                count -= segment.count
                bytes -= segment.bytes
                if (open === segment) open = null
            }
        }

    /** Closes the open segment, so that it can be sent. */
    fun close() =
        synchronized(core.memory) {
            open?.state = CLOSED
            open = null
        }

    /**
     * Stores the events that are only in memory, and marks closed segments as closed in storage.
     */
    fun save() {
        val unsaved = synchronized(core.memory) { segments.filter { it.memory != null } }
        for (segment in unsaved) core.io.withLock { store(segment) }
    }

    /**
     * Stores the events of a segment of this run. If the segment is closed, also stores its state.
     */
    private fun store(segment: Segment) {
        val memory = write(segment) ?: return
        val isOver =
            synchronized(core.memory) { segment !== open && memory.stored == memory.lines.size }
        if (isOver && rename(segment)) synchronized(core.memory) { segment.memory = null }
    }

    /**
     * Stores the events of a segment that are only in memory. Returns the segment's memory; null if
     * the segment has no memory or no longer exists.
     */
    private fun write(segment: Segment): SegmentMemory? {
        while (true) {
            val memory = segment.memory ?: return null
            val from = memory.stored
            val gone: List<Segment>
            val end: Int
            synchronized(core.memory) {
                if (!segment.isKnown) return null
                end = memory.lines.size
                if (from == end) return memory
                gone = takeDoomed()
            }
            delete(gone)
            val isNew = from == 0
            if (isNew) segment.name = segment.printOpenName(core.run)
            val context = if (isNew) printContext(contextOf(memory)) else null
            var closed = emptyList<String>()
            val isThere =
                try {
                    storage.append(segment.name, isNew, end - from) { first ->
                        closed = closedLines(memory, from, end, first)
                        closed.joinToString("\n", if (context == null) "" else "$context\n", "\n")
                    }
                } catch (_: IOException) {
                    storage.sync()
                    null
                }
            synchronized(core.memory) {
                if (isThere == true) {
                    closed.forEachIndexed { at, line -> memory.lines[from + at] = line }
                    memory.stored = end
                    if (context != null) grow(segment, 0, textBytes(context) + 1L)
                    return memory
                }
                // The events that are only in memory become a new segment. If the write failed, the
                // events in the file become a segment of their own. If the file is gone, another
                // run has taken over the events in the file.
                val old = memory.lines.subList(0, from)
                val size = (old + printContext(contextOf(memory))).sumOf { textBytes(it) + 1L }
                if (isThere == null && segment.isKnown) {
                    val stored =
                        Segment(segment.key, count = from, bytes = size, name = segment.name)
                    insert(segments.indexOf(segment), stored)
                }
                old.clear()
                memory.stored = 0
                segment.key = core.newId()
                grow(segment, -from, -size)
            }
        }
    }

    /**
     * Returns the lines from `from` until `end` as complete JSON objects. The first of them gets
     * the sequence number `first`; if that is 0, none gets a number.
     */
    private fun closedLines(memory: SegmentMemory, from: Int, end: Int, first: Long) =
        synchronized(core.memory) {
            memory.lines.subList(from, end).mapIndexed { at, line ->
                closeLine(line, if (first == 0L) 0 else first + at)
            }
        }

    private fun contextOf(memory: SegmentMemory) =
        Context(core.senderOf(memory.user, false), memory.era, core.run)

    /**
     * Renames a segment in storage to match its state. Returns false if the segment no longer
     * exists.
     */
    private fun rename(segment: Segment): Boolean {
        val name = synchronized(core.memory) { segment.printName(core.run) }
        if (name == segment.name) return true
        return try {
            val isThere = storage.rename(segment.name, name)
            if (isThere) segment.name = name else forget(segment)
            isThere
        } catch (_: IOException) {
            // Continues without the rename. Otherwise records could not be sent while storage is
            // full, and storage would remain full.
            true
        }
    }

    /**
     * Takes over the segments of ended runs. If several names have the same key, takes only the
     * last one. `names` must be in ascending order.
     */
    fun adopt(names: List<String>) {
        val adopted = ArrayList<Segment>()
        val parsed = names.mapNotNull { name -> parseName(name)?.let { name to it } }
        parsed.forEachIndexed { at, (name, entry) ->
            if (at + 1 < parsed.size && parsed[at + 1].second.key == entry.key) storage.remove(name)
            else
                adopted.add(
                    Segment(
                        entry.key,
                        entry.generation,
                        // Only the web client writes state 1. It means that the segment was open,
                        // and may have been sent when its page ended.
                        if (entry.state == OPEN || entry.state == CLOSED) entry.state
                        else ATTEMPTED,
                        entry.count,
                        entry.bytes,
                        entry.shiftMs,
                        name,
                    )
                )
        }
        synchronized(core.memory) {
            val known = segments.mapTo(HashSet()) { it.key }
            adopted.removeAll { it.key in known }
            adopted.forEachIndexed { at, segment -> insert(at, segment) }
        }
        for (segment in adopted) if (segment.count == 0) {
            try {
                load(segment)
            } catch (_: IOException) {
                // Ignores the failure, because the segment is read again before it is sent.
            }
        }
    }

    /** The closed segment that is sent next. */
    fun oldest(): Segment? =
        synchronized(core.memory) { nextOf(segments.filter { it !== open && !it.isBusy }) }

    /**
     * Returns the same segment as `oldest`, and marks it as busy. Until `release`, the segment is
     * neither dropped to make room nor returned again.
     */
    fun take(): Segment? = synchronized(core.memory) { oldest()?.also { it.isBusy = true } }

    fun release(segment: Segment) = synchronized(core.memory) { segment.isBusy = false }

    /**
     * Records in storage that an attempt to send a segment begins, and returns the segment's
     * content. Throws an [IOException] if the segment cannot be read now.
     *
     * @return null if the segment no longer exists, or if the client has ended
     */
    fun attempt(segment: Segment): StoredSegment? =
        core.io.withLock {
            if (core.hasEnded) return null
            val memory = write(segment)
            if (!synchronized(core.memory) { segment.isKnown }) return null
            val stored =
                if (memory != null) StoredSegment(contextOf(memory), ArrayList(memory.lines))
                else load(segment) ?: return null
            synchronized(core.memory) {
                if (segment.state != ATTEMPTED) {
                    val context = stored.context
                    segment.shiftMs = clock.shiftFor(context.era, context.run == core.run)
                    segment.state = ATTEMPTED
                }
            }
            if (!rename(segment)) return null
            synchronized(core.memory) { segment.memory = null }
            stored
        }

    /**
     * Reads a segment and corrects its size. If the segment no longer exists or has no events,
     * removes it and returns null. If it cannot be read, keeps it and throws an [IOException].
     */
    private fun load(segment: Segment): StoredSegment? {
        val text = storage.read(segment.name)
        val stored = text?.let { parseSegment(it) }
        val length = stored?.lines?.size ?: 0
        synchronized(core.memory) {
            // If there is no text, another run has sent the segment.
            if (text != null) drops.add("damaged", maxOf(segment.count - length, 0))
            grow(segment, length - segment.count, maxOf(textBytes(text ?: "") - segment.bytes, 0))
            if (length == 0) remove(segment)
        }
        return if (length == 0) null else stored
    }

    /** Replaces a segment by `parts`. If there are no parts, only removes the segment. */
    fun replace(segment: Segment, parts: List<Pair<Segment, StoredSegment>> = emptyList()) {
        core.io.withLock {
            if (!segment.isKnown) return
            for ((part, stored) in parts) {
                part.name = part.printName(core.run)
                storage.create(part.name, printSegment(stored))
            }
            synchronized(core.memory) {
                val at = segments.indexOf(segment)
                if (at >= 0) parts.forEachIndexed { index, (part) -> insert(at + index, part) }
                forget(segment)
            }
            storage.remove(segment.name)
        }
    }

    /** Forgets all segments, and deletes them from storage. */
    fun clear() =
        synchronized(core.memory) { while (segments.isNotEmpty()) remove(segments.first()) }

    fun count(): Int = synchronized(core.memory) { count }

    fun bytes(): Long = synchronized(core.memory) { bytes }
}
