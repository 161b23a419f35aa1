package intake.client

/** Counts the records that were given up, by reason. */
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

    /** Adds records that an earlier run gave up and did not report. */
    @Synchronized
    fun addUnreported(reason: String, count: Int) {
        unreported[reason] = (unreported[reason] ?: 0) + count
        isChanged = true
    }

    /** All records that were given up since the start. */
    @Synchronized fun total(): Map<String, Int> = HashMap(total)

    /**
     * Returns how many records no `intake.dropped` event has reported, by reason. They then count
     * as reported.
     */
    @Synchronized
    fun takeUnreported(): Map<String, Int> {
        val taken = unreported
        unreported = LinkedHashMap()
        isChanged = isChanged || taken.isNotEmpty()
        return taken
    }

    /** The counts to store; null if they have not changed since the last call. */
    @Synchronized
    fun changed(): Map<String, Int>? {
        if (!isChanged) return null
        isChanged = false
        return HashMap(unreported)
    }
}
