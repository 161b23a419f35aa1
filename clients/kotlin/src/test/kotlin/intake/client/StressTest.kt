package intake.client

import java.io.File
import java.io.IOException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Future
import kotlin.concurrent.thread
import kotlin.random.Random
import org.junit.Assert.assertEquals
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

private const val LIVES = 20
private const val THREADS = 4
private const val EVENTS_OF_THREAD = 100

/** A server that handles batches like the gateway, but with random faults. */
private class FakeIntake(seed: Int) {
    /** The number `n` of each stored event, by its id. */
    val rows = ConcurrentHashMap<String, Long>()
    private val random = Random(seed)
    @Volatile var isHealthy = false

    fun answer(request: OutgoingRequest): Answer {
        val logs = Json.parseObject((request as OutgoingRequest.Json).body)["logs"] as List<*>
        val fault = if (isHealthy) 99 else synchronized(random) { random.nextInt(12) }
        when (fault) {
            0 -> throw IOException("unreachable")
            1 -> return Answer(503, "{\"code\":\"queue_full\"}")
            2 -> if (logs.size > 1) return Answer(413, "{\"code\":\"body_too_large\"}")
            3 -> return Answer(200, "<html>")
        }
        for (log in logs) rows[(log as Map<*, *>)["id"] as String] = numberOf(log)
        if (fault == 4 || fault == 5) throw IOException("the answer is lost")
        if (fault == 6) return Answer(503, "{\"code\":\"outcome_unknown\"}")
        return Answer(
            207,
            Json.print(mapOf("results" to logs.map { mapOf("status" to "accepted") })),
        )
    }

    private fun numberOf(log: Map<*, *>) = (log["params"] as Map<*, *>)["n"] as Long
}

/** The storage and the network of a process, which can be killed between any two operations. */
private class Process(private val files: Storage, server: FakeIntake) : Storage {
    @Volatile var isDead = false

    private inline fun <Result> step(work: () -> Result): Result {
        if (isDead) throw IOException("the process is dead")
        return work()
    }

    private val ports =
        Ports(this, { request -> step { server.answer(request) } }, JavaTime) { emptyMap() }

    fun start(): Intake {
        val options = IntakeOptions()
        options.flushIntervalMs = 1
        options.batchEntriesMax = 20
        options.retryMsMin = 1
        options.retryMsMax = 5
        options.storageEventsMax = 1_000_000
        options.storageBytesMax = 100_000_000
        return Intake("com.example.app", options, Worker(), ports)
    }

    override fun list() = step { files.list() }

    override fun read(name: String) = step { files.read(name) }

    override fun append(name: String, isNew: Boolean, count: Int, print: (Long) -> String) = step {
        files.append(name, isNew, count, print)
    }

    override fun create(name: String, text: String) = step { files.create(name, text) }

    override fun rename(from: String, to: String) = step { files.rename(from, to) }

    override fun remove(name: String) = step { files.remove(name) }

    override fun get(key: String) = step { files.get(key) }

    override fun has(key: String) = step { files.has(key) }

    override fun set(key: String, vararg parts: ByteArray) = step { files.set(key, *parts) }

    override fun sync() = step { files.sync() }

    override fun close() = step { files.close() }
}

internal object JavaTime : TimeSource {
    override fun now() = System.currentTimeMillis()

    override fun monotonic() = System.nanoTime() / 1_000_000
}

class StressTest {
    @get:Rule val folder = TemporaryFolder()

    @Test
    fun `every event that was stored is one record, over lost answers and kills at any step`() {
        deliver(survivors = 1)
    }

    @Test
    fun `clients that share a directory need no lock`() {
        deliver(survivors = 3)
    }

    /**
     * @param survivors how many clients run at the same time; when a further client starts, the
     *   oldest is killed
     */
    private fun deliver(survivors: Int) {
        val dir = folder.newFolder()
        val server = FakeIntake(seed = survivors)
        val stored = ConcurrentHashMap.newKeySet<Long>()
        val running = ArrayList<Process>()
        for (life in 0 until LIVES) {
            val process = Process(FileStorage { dir }, server)
            val intake = process.start()
            running.add(process)
            val writers =
                List(THREADS) { part ->
                    thread {
                        write(intake, process, (life * THREADS + part) * EVENTS_OF_THREAD, stored)
                    }
                }
            if (running.size >= survivors) {
                val oldest = running.removeAt(0)
                // Kills the oldest process when a certain number of further events is stored. At
                // that moment the process can be in any state.
                val isEnough = (life * 7 % 10) * THREADS * EVENTS_OF_THREAD / 10 + stored.size
                while (stored.size < isEnough && writers.any { it.isAlive }) Thread.yield()
                oldest.isDead = true
            }
            writers.forEach { it.join() }
        }
        for (process in running) process.isDead = true
        server.isHealthy = true
        val last = Process(FileStorage { dir }, server).start()
        while (last.flush(1000).get() > 0) Thread.yield()
        val ids = server.rows.entries.groupBy({ it.value }, { it.key })
        assertEquals("under one id", emptyMap<Long, Any>(), ids.filterValues { it.size > 1 })
        assertEquals("none is lost", emptySet<Long>(), stored - ids.keys)
        assertEquals("nothing was given up", emptyMap<String, Int>(), last.stats().dropped)
        assertEquals(emptyList<String>(), segmentsIn(dir))
        last.shutdown(0).get()
    }

    private fun segmentsIn(dir: File) = dir.list()!!.filter { parseName(it) != null }

    private fun write(intake: Intake, process: Process, from: Int, stored: MutableSet<Long>) {
        for (n in from until from + EVENTS_OF_THREAD) {
            intake.log("tap", mapOf("n" to n))
            if (n % 7 == 0) {
                val saved: Future<Unit> = intake.stored()
                saved.get()
                // A killed process may report that events are stored although they are only in its
                // memory, so its reports are not counted.
                if (process.isDead) return
                for (one in maxOf(from, n - 6)..n) stored.add(one.toLong())
            }
        }
    }
}
