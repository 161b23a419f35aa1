package intake.client

/** Counts the records that the client drops, by reason. */
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

    /** Adds dropped records that are not reported yet, such as those of an earlier run. */
    @Synchronized
    fun addUnreported(reason: String, count: Int) {
        unreported[reason] = (unreported[reason] ?: 0) + count
        isChanged = true
    }

    /** The number of records dropped since the client started, by reason. */
    @Synchronized fun total(): Map<String, Int> = HashMap(total)

    /**
     * Returns the counts of dropped records that no `intake.dropped` event has reported, by reason.
     * After this call they count as reported.
     */
    @Synchronized
    fun takeUnreported(): Map<String, Int> {
        val taken = unreported
        unreported = LinkedHashMap()
        isChanged = isChanged || taken.isNotEmpty()
        return taken
    }

    /**
     * Returns the counts of dropped records that are not reported yet, so that they can be stored.
     * Returns null if the counts have not changed since the last call.
     */
    @Synchronized
    fun changed(): Map<String, Int>? {
        if (!isChanged) return null
        isChanged = false
        return HashMap(unreported)
    }
}
