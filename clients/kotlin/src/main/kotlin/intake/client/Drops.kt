package intake.client

/** Counts what was given up, by reason. */
internal class Drops(private val onDrop: (reason: String, count: Int) -> Unit) {
    private val total = HashMap<String, Int>()
    private var unreported = LinkedHashMap<String, Int>()
    private var isChanged = false

    @Synchronized
    fun add(reason: String, count: Int) {
        if (count == 0) return
        total[reason] = (total[reason] ?: 0) + count
        addUnreported(reason, count)
        onDrop(reason, count)
    }

    /** Of an earlier run. */
    @Synchronized
    fun addUnreported(reason: String, count: Int) {
        unreported[reason] = (unreported[reason] ?: 0) + count
        isChanged = true
    }

    /** All since the start. */
    @Synchronized fun total(): Map<String, Int> = HashMap(total)

    /** Those that no `intake.dropped` event has reported; after this they count as reported. */
    @Synchronized
    fun takeUnreported(): Map<String, Int> {
        val taken = unreported
        unreported = LinkedHashMap()
        isChanged = isChanged || taken.isNotEmpty()
        return taken
    }

    /** What to store, if it has changed since the last call; else null. */
    @Synchronized
    fun changed(): Map<String, Int>? {
        if (!isChanged) return null
        isChanged = false
        return HashMap(unreported)
    }
}
