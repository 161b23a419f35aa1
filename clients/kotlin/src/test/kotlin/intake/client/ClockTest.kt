package intake.client

import org.junit.Assert.assertEquals
import org.junit.Test

private const val DAY = 86_400_000L
private const val START = 1_795_262_400_000L

/** A device whose clock is ahead by `ahead`, and whose monotonic clock stops while it sleeps. */
private class Device(var ahead: Long) {
    var elapsed = 0L
    var asleep = 0L

    fun trueNow() = START + elapsed + asleep

    val clock =
        Clock(
            object : TimeSource {
                override fun now() = trueNow() + ahead

                override fun monotonic() = elapsed
            }
        )

    fun answer() = clock.observe(trueNow(), 0)

    /**
     * Makes an id now, and returns a function. When that function is called, it corrects the id,
     * and returns by how many milliseconds the corrected id is wrong.
     */
    fun note(): (isOfThisRun: Boolean) -> Long {
        val idTime = clock.now()
        val era = clock.era()
        val madeAt = trueNow()
        return { idTime + clock.shiftFor(era, it) - madeAt }
    }
}

class ClockTest {
    @Test
    fun `a wrong clock is corrected by the first answer`() {
        for (ahead in listOf(3 * DAY, -3 * DAY, 120_000L)) {
            val device = Device(ahead)
            val early = device.note()
            assertEquals(ahead, early(true))
            device.answer()
            assertEquals(0, early(true))
            assertEquals("also if an earlier run made it", 0, early(false))
            assertEquals(device.trueNow(), device.clock.now())
            assertEquals(0, device.note()(true))
        }
    }

    @Test
    fun `events before and after a clock was set right are both right`() {
        for (ahead in listOf(3 * DAY, -3 * DAY)) {
            val device = Device(ahead)
            val early = device.note()
            device.elapsed += 10_000
            device.ahead = 0
            val late = device.note()
            device.answer()
            assertEquals(0, late(true))
            assertEquals(0, early(true))
        }
    }

    @Test
    fun `a right clock is never touched, not even after a sleep`() {
        val device = Device(0)
        val early = device.note()
        device.asleep += 8 * 3_600_000
        val late = device.note()
        device.answer()
        assertEquals(0, early(true))
        assertEquals(0, late(true))
    }

    @Test
    fun `a difference of less than a minute is left`() {
        val device = Device(50_000)
        val early = device.note()
        device.answer()
        assertEquals(50_000, early(true))
    }

    @Test
    fun `ids that were made with a known offset are never changed`() {
        val device = Device(3 * DAY)
        device.answer()
        val good = device.note()
        device.ahead = -10 * DAY
        device.answer()
        assertEquals(0, good(true))
    }
}
