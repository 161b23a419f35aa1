package intake.client

/** May grow. (1 is the state of what the end of a page may have sent, in browsers.) */
internal const val OPEN = 0

/** Was never sent. */
internal const val CLOSED = 2

/** A request may have reached the server. */
internal const val ATTEMPTED = 3

/**
 * What the name of a stored segment says. A rename changes the state of a whole segment at once.
 */
internal class EntryName(
    /** Ascends with the time at which it was begun. */
    val key: String,
    /** Of segments with the same key, the highest generation and state replace the others. */
    val generation: Int,
    val state: Int,
    /** The run of the client that owns it. */
    val run: String,
    /** Events and bytes; 0 while it is open. */
    val count: Int,
    val bytes: Long,
    /** What every id of an attempted segment is shifted by, in milliseconds. */
    val shiftMs: Long,
) {
    override fun toString() = "$key.$generation.$state.$run.$count.$bytes.$shiftMs"
}

/** @return null: it is not the name of a segment */
internal fun parseName(name: String): EntryName? {
    val parts = name.split('.')
    if (parts.size != 7) return null
    return EntryName(
        key = parts[0],
        generation = parts[1].toIntOrNull() ?: return null,
        state = parts[2].toIntOrNull() ?: return null,
        run = parts[3],
        count = parts[4].toIntOrNull() ?: return null,
        bytes = parts[5].toLongOrNull() ?: return null,
        shiftMs = parts[6].toLongOrNull() ?: return null,
    )
}

/** What all events of a segment have in common. It is the first line of the stored segment. */
internal class Context(
    /** What every request says of its sender. What is not known yet is absent. */
    val sender: Map<String, Any?>,
    val era: Era,
    /** The run whose monotonic clock `era` refers to. */
    val run: String,
)

/** A batch of events: what is stored as one, is sent as one, and is deleted as one. */
internal class Segment(
    var key: String,
    val generation: Int = 0,
    var state: Int = CLOSED,
    var count: Int = 0,
    var bytes: Long = 0,
    var shiftMs: Long = 0,
    /** What it is called in storage, which may be behind `state`; empty: it is not there yet. */
    var name: String = "",
    /** Of this run, until it is closed and stored. */
    var memory: SegmentMemory? = null,
    /** An attempt may have stored events: their ids must not change. */
    var mayBeStored: Boolean = state == ATTEMPTED,
) {
    /** It is one of those that wait. */
    var isKnown = false
    var isBusy = false

    /** Attempts that got 500; after three it is left until the next start. */
    var failures = 0

    fun printName(run: String) =
        EntryName(key, generation, state, run, count, bytes, shiftMs).toString()

    fun printOpenName(run: String) =
        EntryName(key, generation, state, run, 0, 0, shiftMs).toString()
}

internal class SegmentMemory(val user: String, val era: Era) {
    /** Each without its closing brace until it has its sequence. */
    val lines = ArrayList<String>()

    /** How many lines have their sequence, and how many are stored. */
    var numbered = 0
    var stored = 0
}

/** @property lines each a JSON object */
internal class StoredSegment(val context: Context, val lines: List<String>)

/**
 * @return null: it is damaged. A line that was not written completely, because the process ended,
 *   was never reported as stored; it is left out
 */
internal fun parseSegment(text: String): StoredSegment? {
    val lines = text.split('\n')
    val context = parseContext(lines[0]) ?: return null
    return StoredSegment(context, lines.drop(1).filter { Json.parseObject(it)["id"] is String })
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
