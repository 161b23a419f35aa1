package intake.client

import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

private const val NOW = 1_795_000_000_123L

class UuidsTest {
    @Test
    fun `ids are UUIDv7 of their time, and ascend within a millisecond`() {
        val uuids = Uuids()
        val ids = List(10_000) { uuids.next(NOW) }
        assertEquals(ids.sorted(), ids)
        assertEquals(10_000, ids.toSet().size)
        val form = Regex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
        assertTrue(ids.all(form::matches))
        assertEquals(NOW, timeOfUuid(ids.first()))
        // At most 4,096 ids can have the same millisecond.
        assertTrue(timeOfUuid(ids.last()) <= NOW + 4)
    }

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
