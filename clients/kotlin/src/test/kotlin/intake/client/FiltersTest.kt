package intake.client

import java.io.IOException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import org.junit.Assert.assertTrue
import org.junit.Test

/** A filter refuses each request that contains `poison`. */
class FiltersTest {
    private val storage = MemoryStorage()

    private fun start(retryMs: Long, retryMsMax: Long, transport: Transport): Intake {
        val options = IntakeOptions()
        options.retryMsMin = retryMs
        options.retryMsMax = retryMsMax
        options.flushIntervalMs = 1
        val ports = Ports(storage, transport, JavaTime) { emptyMap() }
        return Intake("com.example.app", options, Worker(), ports)
    }

    private fun answer(request: OutgoingRequest): Answer {
        val body = (request as OutgoingRequest.Json).body
        if ("poison" in body) return Answer(403, "<html>")
        val results = List(Regex("\"event\":").findAll(body).count()) { "{\"status\":\"accepted\"}" }
        return Answer(207, "{\"results\":$results}")
    }

    @Test
    fun `one event that is refused does not keep the others of its batch`() {
        val intake = start(1, 1, ::answer)
        for (n in 1..20) intake.log(if (n == 7) "poison" else "tap")
        intake.flush().get()
        assertTrue(intake.stats().pendingLogs == 1)
        intake.shutdown(0).get()
    }

    @Test
    fun `where all batches are refused, a single event soon finds out that not everything is`() {
        val isOut = AtomicBoolean(true)
        val arrived = CountDownLatch(30)
        val inARow = AtomicInteger()
        val inARowMax = AtomicInteger()
        val intake =
            start(1, 1) { request ->
                if (isOut.get()) return@start Answer(503, "")
                answer(request).also {
                    arrived.countDown(if (it.status == 207) taps(request) else 0)
                    if (it.status == 207) inARow.set(0)
                    else inARowMax.accumulateAndGet(inARow.incrementAndGet(), ::maxOf)
                }
            }
        repeat(10) {
            for (name in listOf("tap", "tap", "tap", "poison")) intake.log(name)
            intake.flush(20).get()
        }
        isOut.set(false)
        assertTrue(arrived.await(20, TimeUnit.SECONDS))
        assertTrue("${inARowMax.get()}", inARowMax.get() <= 6)
        intake.shutdown(0).get()
    }

    @Test
    fun `a connection that one event resets delays no other`() {
        val arrived = CountDownLatch(10)
        val intake =
            start(1, 50) { request ->
                if ("poison" in (request as OutgoingRequest.Json).body) throw IOException("reset")
                arrived.countDown(taps(request))
                answer(request)
            }
        for (n in 0..10) {
            intake.log(if (n == 0) "poison" else "tap")
            intake.flush(20).get()
        }
        assertTrue(arrived.await(20, TimeUnit.SECONDS))
        intake.shutdown(0).get()
    }

    private fun taps(request: OutgoingRequest): Int =
        Regex("\"tap\"").findAll((request as OutgoingRequest.Json).body).count()

    private fun CountDownLatch.countDown(times: Int) = repeat(times) { countDown() }

    @Test
    fun `after a restart, what was refused gives way to what is new`() {
        val first = start(1, 1, ::answer)
        repeat(30) {
            first.log("poison")
            first.flush(20).get()
        }
        first.shutdown(0).get()
        val arrived = CountDownLatch(1)
        val second =
            start(50, 3_600_000) {
                if ("fresh" in (it as OutgoingRequest.Json).body) arrived.countDown()
                answer(it)
            }
        second.log("fresh")
        assertTrue(arrived.await(20, TimeUnit.SECONDS))
        second.shutdown(0).get()
    }
}
