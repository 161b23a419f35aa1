package intake.client

import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Test

class DroppedNamesTest {
    private object ShiftedTime : TimeSource {
        @Volatile var aheadMs = 0L

        override fun now() = System.currentTimeMillis() + aheadMs

        override fun monotonic() = System.nanoTime() / 1_000_000
    }

    @Test
    fun `a name that a rule drops is left out for five minutes, then one event asks`() {
        var status = "dropped"
        var events = 0
        val transport: Transport = { request ->
            val logs = Json.parseObject((request as OutgoingRequest.Json).body)["logs"] as List<*>
            events += logs.size
            Answer(207, Json.print(mapOf("results" to logs.map { mapOf("status" to status) })))
        }
        val ports = Ports(MemoryStorage(), transport, ShiftedTime) { emptyMap() }
        val intake = Intake("com.example.app", IntakeOptions(), Worker(), ports)
        repeat(20) { assertNotNull(intake.log("noise")) }
        intake.flush().get()
        assertNull(intake.log("noise"))
        assertNotNull(intake.log("tap"))
        intake.flush().get()
        assertEquals(21, events)
        ShiftedTime.aheadMs = 310_000
        assertNotNull(intake.log("noise"))
        assertNull(intake.log("noise"))
        intake.flush().get()
        assertNull(intake.log("noise"))
        status = "accepted"
        ShiftedTime.aheadMs = 620_000
        assertNotNull(intake.log("noise"))
        intake.flush().get()
        assertNotNull(intake.log("noise"))
        assertEquals(emptyMap<String, Int>(), intake.stats().dropped)
        intake.shutdown().get()
    }
}
