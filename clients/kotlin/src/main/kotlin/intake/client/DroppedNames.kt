package intake.client

/** So many events of a name must be dropped, one after the other, before it is left out. */
private const val DROPPED_MIN = 20
private const val PAUSE_MS = 300_000L

/** Bounds the memory for apps that make names of values. */
private const val NAMES_MAX = 100

/**
 * The names of events that a rule of the operator drops. The client does not keep such events. The
 * caller must hold `memory`.
 */
internal class DroppedNames(private val clock: Clock) {
    private class Entry(var count: Int = 0, var until: Long = 0)

    private val names = HashMap<String, Entry>()

    /**
     * Whether to leave out an event with this name. Once in five minutes it is false for such a
     * name: that event shows whether the rule still applies.
     */
    fun leavesOut(event: String): Boolean {
        val entry = names[event] ?: return false
        if (entry.count < DROPPED_MIN) return false
        val now = clock.now()
        // If the clock was set back, more time seems to be left than the pause is long.
        if (entry.until - now in 1..PAUSE_MS) return true
        entry.until = now + PAUSE_MS
        return false
    }

    /** Learns from the results of the events in `lines`. */
    fun learn(lines: List<String>, isDropped: (index: Int) -> Boolean?) {
        for ((index, line) in lines.withIndex()) {
            val dropped = isDropped(index) ?: continue
            if (!dropped && names.isEmpty()) continue
            val event = Json.parseObject(line)["event"] as? String ?: continue
            if (!dropped) names.remove(event)
            else if (event in names || names.size < NAMES_MAX) {
                val entry = names.getOrPut(event) { Entry() }
                entry.count++
                entry.until = clock.now() + PAUSE_MS
            }
        }
    }
}
