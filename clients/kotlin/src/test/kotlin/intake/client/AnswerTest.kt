package intake.client

import org.junit.Assert.assertEquals
import org.junit.Test

class AnswerTest {
    private fun start(transport: Transport): Intake {
        val ports = Ports(MemoryStorage(), transport, JavaTime) { emptyMap() }
        return Intake("com.example.app", IntakeOptions(), Worker(), ports)
    }

    @Test
    fun `an entry with a status that nobody knows counts as rejected`() {
        val intake = start { Answer(207, "{\"results\":[{\"status\":\"parked\"}]}") }
        intake.log("tap")
        intake.flush().get()
        assertEquals(mapOf("unknown" to 1), intake.stats().dropped)
        intake.shutdown().get()
    }

    @Test
    fun `the clock of a proxy is not believed`() {
        val date = "Wed, 21 Oct 2015 07:28:00 GMT"
        val intake = start { Answer(502, "<html>", date) }
        intake.log("tap")
        assertEquals(1, intake.flush(500).get())
        assertEquals(0L, intake.stats().clockOffsetMs)
        intake.shutdown(0).get()
    }
}
