package intake.client

/**
 * The state of a segment to which events may still be added. (State 1 exists only in browsers. It
 * means that the segment is open, and may have been sent when its page ended.)
 */
internal const val OPEN = 0

/** The state of a complete segment that was never sent. */
internal const val CLOSED = 2

/** The state of a segment that may have reached the server in a request. */
internal const val ATTEMPTED = 3

/**
 * What the name of a stored segment contains. The state is part of the name, so that a rename
 * changes the state of the whole segment at once.
 */
internal class EntryName(
    /** Begins with a UUIDv7, so that segments sort by the time of their creation. */
    val key: String,
    /**
     * How many times events of the segment got new ids. If several stored segments have the same
     * key, only the one with the highest generation counts; among equal generations, the highest
     * state.
     */
    val generation: Int,
    val state: Int,
    /** The run of the client that owns the segment. */
    val run: String,
    /** The number of events, and their size in bytes. In the name of an open segment both are 0. */
    val count: Int,
    val bytes: Long,
    /** The milliseconds by which every id of an attempted segment is shifted. */
    val shiftMs: Long,
) {
    override fun toString() = "$key.$generation.$state.$run.$count.$bytes.$shiftMs"
}

/** The form of a segment's name. Each time a segment is halved, a digit is added to its key. */
private val nameForm =
    Regex(
        "($UUID_FORM[01]*)\\.(\\d)\\.([0-3])\\.($UUID_FORM(?:-pid\\d+)?)" +
            "\\.(\\d+)\\.(\\d+)\\.(-?\\d+)"
    )
private const val BYTES_MAX = 1_000_000L

/** The shifts that a name may contain. Times in UUIDv7 have 48 bits, so no shift is larger. */
private val shiftsMs = -(1L shl 48)..(1L shl 48)

/**
 * Parses the name of a stored segment. Returns null for any other name, because such a file belongs
 * to someone else. Also returns null if a number is larger than a client writes: such a segment
 * would displace events.
 */
internal fun parseName(name: String): EntryName? {
    val (key, generation, state, run, count, bytes, shiftMs) =
        nameForm.matchEntire(name)?.destructured ?: return null
    val entry =
        EntryName(
            key = key,
            generation = generation.toInt(),
            state = state.toInt(),
            run = run,
            count = count.toIntOrNull()?.takeIf { it <= ENTRIES_MAX } ?: return null,
            bytes = bytes.toLongOrNull()?.takeIf { it <= BYTES_MAX } ?: return null,
            shiftMs = shiftMs.toLongOrNull()?.takeIf { it in shiftsMs } ?: return null,
        )
    return entry.takeIf { it.toString() == name && it.generation <= GENERATIONS_MAX }
}

/**
 * The properties that all events of a segment share. They are the first line of the stored segment.
 */
internal class Context(
    /** The fields of every request that describe its sender. Unknown properties are absent. */
    val sender: Map<String, Any?>,
    val era: Era,
    /** The run whose monotonic clock `era` refers to. */
    val run: String,
)

/** A batch of events that are stored, sent and deleted together. */
internal class Segment(
    var key: String,
    val generation: Int = 0,
    var state: Int = CLOSED,
    var count: Int = 0,
    var bytes: Long = 0,
    var shiftMs: Long = 0,
    /**
     * The segment's name in storage. The state in this name may be older than `state`. Empty if the
     * segment is not stored yet.
     */
    var name: String = "",
    /**
     * The events in memory; null if the segment is closed and stored, or is from an earlier run.
     */
    var memory: SegmentMemory? = null,
    /** Whether an attempt may have stored events. If so, their ids must not change. */
    var mayBeStored: Boolean = state == ATTEMPTED,
) : Waiting(if (state == ATTEMPTED) 1 else 0) {
    /** Whether the queue has this segment. */
    var isKnown = false
    var isBusy = false

    fun printName(run: String) =
        EntryName(key, generation, state, run, count, bytes, shiftMs).toString()

    fun printOpenName(run: String) =
        EntryName(key, generation, state, run, 0, 0, shiftMs).toString()
}

internal class SegmentMemory(val user: String, val era: Era) {
    /** The events as JSON, each without its closing brace until it is stored. */
    val lines = ArrayList<String>()

    /** How many lines are stored. */
    var stored = 0
}

/**
 * The content of a stored segment.
 *
 * @property lines the events, each as a JSON object
 */
internal class StoredSegment(val context: Context, val lines: List<String>)

/**
 * Parses a stored segment. An incomplete last line is left out: the process ended while writing it,
 * and never reported it as stored.
 *
 * @return null if the text is damaged
 */
internal fun parseSegment(text: String): StoredSegment? {
    val lines = text.split('\n')
    val context = parseContext(lines[0]) ?: return null
    return StoredSegment(context, lines.drop(1).filter(::isLine))
}

/** Whether this is a complete event, as `printLine` and `closeLine` print it. */
private fun isLine(line: String): Boolean {
    val id = Json.parseObject(line)["id"] as? String ?: return false
    return isUuid(id) && line.startsWith("{\"id\":\"$id\"")
}

internal fun printSegment(stored: StoredSegment): String =
    stored.lines.joinToString("\n", "${printContext(stored.context)}\n", "\n")

internal fun printContext(context: Context): String {
    val (era, run) = context.era to context.run
    val printed = mapOf("drift" to era.drift, "offset" to era.offset, "isTrusted" to era.isTrusted)
    return Json.print(mapOf("sender" to context.sender, "era" to printed, "run" to run))
}

@Suppress("UNCHECKED_CAST")
private fun parseContext(line: String): Context? {
    val context = Json.parseObject(line)
    val era = context["era"] as? Map<String, Any?> ?: return null
    return Context(
        sender = context["sender"] as? Map<String, Any?> ?: return null,
        era =
            Era(
                drift = (era["drift"] as? Number)?.toLong() ?: return null,
                offset = (era["offset"] as? Number)?.toLong() ?: return null,
                isTrusted = era["isTrusted"] == true,
            ),
        run = context["run"] as? String ?: return null,
    )
}
