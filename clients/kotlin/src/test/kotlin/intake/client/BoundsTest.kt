package intake.client

import java.io.File
import java.lang.management.ManagementFactory
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

private val params =
    mapOf("screen" to "cart", "items" to 3, "price" to 19.99, "from" to "search", "isNew" to false)

class BoundsTest {
    @get:Rule val folder = TemporaryFolder()

    /** Starts a client for a port on which nothing listens. */
    private fun start(storage: File, configure: IntakeOptions.() -> Unit = {}) =
        Intake("http://127.0.0.1:9", "ik_test", "com.example.app", storage, configure)

    private fun sizeOf(storage: File) = storage.listFiles()!!.sumOf { it.length() }

    private fun usedHeap(): Long {
        System.gc()
        return Runtime.getRuntime().let { it.totalMemory() - it.freeMemory() }
    }

    @Test
    fun `100,000 events for a blocked host take 4 MB of storage and 10 MB of memory at most`() {
        val storage = folder.newFolder()
        val intake = start(storage) { flushIntervalMs = 100 }
        intake.log("first")
        intake.stored().get()
        val before = usedHeap()
        var heap = 0L
        var disk = 0L
        for (n in 1..100_000) {
            intake.log("tap", params + ("n" to n))
            if (n % 1000 == 0) disk = maxOf(disk, sizeOf(storage))
            if (n % 10_000 == 0) heap = maxOf(heap, usedHeap() - before)
        }
        intake.stored().get()
        val stats = intake.stats()
        println(
            "blocked host, 100,000 events: at most $disk bytes on disk, " +
                "${stats.pendingLogs} kept, heap + $heap bytes at most"
        )
        assertEquals(100_001, stats.pendingLogs + (stats.dropped["queue_full"] ?: 0))
        assertTrue("kept ${stats.pendingLogs}", stats.pendingLogs in 4000..5000)
        assertTrue("$disk bytes on disk", disk <= 4_000_000)
        assertTrue("$heap bytes of heap", heap <= 10_000_000)
        intake.shutdown(0).get()
    }

    @Test
    fun `what every segment has in common counts for the bound too`() {
        val storage = folder.newFolder()
        val intake =
            start(storage) {
                device = mapOf("device_model" to "x".repeat(2000))
                storageBytesMax = 100_000
                flushIntervalMs = 3_600_000
            }
        intake.stored().get()
        for (n in 1..300) {
            intake.log("tap")
            intake.flush(0).get()
            intake.stored().get()
        }
        intake.stored().get()
        assertTrue("${sizeOf(storage)} bytes", sizeOf(storage) <= 105_000)
        intake.shutdown(0).get()
    }

    @Test
    fun `log costs at most 20 microseconds of CPU in the median`() {
        val intake = start(folder.newFolder()) { flushIntervalMs = 100 }
        val threads = ManagementFactory.getThreadMXBean()
        val groups =
            List(2000) {
                val began = threads.currentThreadCpuTime
                repeat(25) { intake.log("tap", params) }
                val nanos = (threads.currentThreadCpuTime - began) / 25
                intake.stored().get()
                nanos
            }
        // Leaves out the first groups of calls: Java interprets the code at first, and compiles it
        // later.
        val sorted = groups.drop(1000).sorted()
        fun at(part: Double) = "%.1f".format(sorted[(sorted.size * part).toInt()] / 1000.0)
        println(
            "log(): CPU median ${at(0.5)} µs, 95 % below ${at(0.95)} µs, 99 % below ${at(0.99)} µs"
        )
        assertTrue("median ${at(0.5)} µs", sorted[500] <= 20_000)
        intake.shutdown(0).get()
    }
}
