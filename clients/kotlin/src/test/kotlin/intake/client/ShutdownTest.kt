package intake.client

import java.io.File
import java.io.IOException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

private const val ROUNDS = 300

class ShutdownTest {
    @get:Rule val folder = TemporaryFolder()

    private val rows = ConcurrentHashMap.newKeySet<String>()

    private fun accept(request: OutgoingRequest): Answer {
        val logs = Json.parseObject((request as OutgoingRequest.Json).body)["logs"] as List<*>
        for (log in logs) rows.add((log as Map<*, *>)["id"] as String)
        val results = logs.map { mapOf("status" to "accepted") }
        return Answer(207, Json.print(mapOf("results" to results)))
    }

    private fun start(storage: Storage, transport: Transport): Intake {
        val options = IntakeOptions()
        options.flushIntervalMs = 1
        return Intake(
            "com.example.app",
            options,
            Worker(),
            Ports(storage, transport, JavaTime) { emptyMap() },
        )
    }

    private fun segmentsIn(dir: File) = dir.list()!!.filter { parseName(it) != null }.sorted()

    @Test
    fun `after shutdown another client finds all, also if a send was running`() {
        for (round in 1..ROUNDS) {
            val dir = folder.newFolder()
            val first = start(FileStorage { dir }) { throw IOException("unreachable") }
            first.log("tap")
            first.stored().get()
            first.shutdown((round % 4).toLong()).get()
            val second = start(FileStorage { dir }, transport = ::accept)
            second.flush().get()
            assertEquals(round, rows.size)
            second.shutdown().get()
        }
    }

    @Test
    fun `an answer that arrives after shutdown changes nothing`() {
        val dir = folder.newFolder()
        val isAsked = CountDownLatch(1)
        val mayAnswer = CountDownLatch(1)
        lateinit var sending: Thread
        val first =
            start(FileStorage { dir }) {
                sending = Thread.currentThread()
                isAsked.countDown()
                mayAnswer.await()
                Answer(413, "{\"code\":\"body_too_large\"}")
            }
        for (n in 1..10) first.log("tap")
        first.flush(0)
        isAsked.await()
        assertEquals(10, first.shutdown(0).get())
        val left = segmentsIn(dir)
        assertEquals(1, left.size)
        mayAnswer.countDown()
        sending.join()
        assertEquals(left, segmentsIn(dir))
        assertEquals(emptyMap<String, Int>(), first.stats().dropped)

        val second = start(FileStorage { dir }, transport = ::accept)
        assertEquals(0, second.flush().get())
        assertEquals(10, rows.size)
        second.shutdown().get()
    }

    @Test
    fun `the next client finds all, even if a request is open and writes wait`() {
        for (round in 1..ROUNDS) {
            val dir = folder.newFolder()
            val isAsked = CountDownLatch(1)
            val mayAnswer = CountDownLatch(1)
            val first =
                start(FileStorage { dir }) {
                    isAsked.countDown()
                    mayAnswer.await()
                    Answer(413, "{\"code\":\"body_too_large\"}")
                }
            first.log("sent")
            first.flush(0)
            if (round % 2 == 0) isAsked.await()
            for (n in 1..3) first.log("waiting")
            first.shutdown((round % 4).toLong()).get()
            val second = start(FileStorage { dir }, transport = ::accept)
            val left = second.flush()
            mayAnswer.countDown()
            assertEquals(0, left.get())
            assertEquals(4 * round, rows.size)
            assertEquals(emptyMap<String, Int>(), first.stats().dropped)
            assertEquals(emptyMap<String, Int>(), second.stats().dropped)
            second.shutdown().get()
        }
    }

    @Test
    fun `an optOut just before shutdown is in force after the next start`() {
        for (round in 1..ROUNDS) {
            val dir = folder.newFolder()
            val first = start(FileStorage { dir }) { throw IOException("unreachable") }
            first.log("tap")
            first.optOut()
            first.shutdown(0).get()
            val second = start(FileStorage { dir }, transport = ::accept)
            second.stored().get()
            assertEquals("round $round", true, second.stats().isOptedOut)
            second.shutdown().get()
        }
        assertEquals(0, rows.size)
    }

    @Test
    fun `after shutdown nothing is kept that would be lost`() {
        val dir = folder.newFolder()
        val intake = start(FileStorage { dir }) { throw IOException("unreachable") }
        intake.shutdown(0).get()
        assertEquals(null, intake.log("tap"))
        assertEquals(false, intake.feedback("It broke.").get().isKept)
        val storage = FileStorage { dir }
        storage.close()
        val thrown = runCatching { storage.set("key", byteArrayOf(1)) }.exceptionOrNull()
        assertTrue("$thrown", thrown is IOException)
    }
}
