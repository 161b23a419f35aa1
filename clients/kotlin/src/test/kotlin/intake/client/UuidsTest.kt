package intake.client

import org.junit.Assert.assertEquals
import org.junit.Test

private const val NOW = 1_795_000_000_123L

class UuidsTest {
    @Test
    fun `ids follow a clock that was set back`() {
        val uuids = Uuids()
        uuids.next(NOW)
        assertEquals(NOW - 3_600_000, timeOfUuid(uuids.next(NOW - 3_600_000)))
    }

    @Test
    fun `a shifted id keeps its random part`() {
        val id = Uuids().next(NOW)
        val shifted = shiftUuid(id, -259_200_000)
        assertEquals(NOW - 259_200_000, timeOfUuid(shifted))
        assertEquals(id.substring(13), shifted.substring(13))
    }
}
