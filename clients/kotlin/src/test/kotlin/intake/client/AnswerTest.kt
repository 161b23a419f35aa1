package intake.client

import com.sun.net.httpserver.HttpServer
import java.net.InetSocketAddress
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

    /** Starts a server that refuses the first request, and accepts all others. */
    private fun refusing(type: String, body: String, status: Int = 401): HttpServer {
        val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
        var isFirst = true
        server.createContext("/") { exchange ->
            exchange.requestBody.use { it.readBytes() }
            val sent = if (isFirst) body else "{\"results\":[{\"status\":\"accepted\"}]}"
            exchange.responseHeaders["content-type"] = listOf(type)
            exchange.responseHeaders["www-authenticate"] = listOf("Basic")
            if (status == 403) exchange.responseHeaders["retry-after"] = listOf("1")
            exchange.sendResponseHeaders(if (isFirst) status else 207, sent.length.toLong())
            isFirst = false
            exchange.responseBody.use { it.write(sent.toByteArray()) }
        }
        server.start()
        return server
    }

    private fun startFor(server: HttpServer): Intake {
        val worker = Worker()
        val transport =
            HttpTransport("http://127.0.0.1:${server.address.port}", "ik_test", worker::schedule)
        val options = IntakeOptions()
        options.retryMsMin = 1
        options.retryMsMax = 1
        val ports = Ports(MemoryStorage(), transport, JavaTime) { emptyMap() }
        return Intake("com.example.app", options, worker, ports)
    }

    @Test
    fun `a 401 of Intake stops, although Java withholds its body`() {
        val body = "{\"code\":\"unauthorized\"}"
        val server = refusing("application/problem+json; charset=utf-8", body)
        val intake = startFor(server)
        intake.log("tap")
        assertEquals(1, intake.flush().get())
        assertEquals("unauthorized", intake.stats().stopped)
        intake.shutdown(0).get()
        server.stop(0)
    }

    @Test
    fun `a refusal of the key with Retry-After is repeated without a restart`() {
        val server = refusing("application/problem+json", "{\"code\":\"key_suspended\"}", 403)
        val intake = startFor(server)
        intake.log("tap")
        assertEquals(0, intake.flush().get())
        assertEquals(null, intake.stats().stopped)
        intake.shutdown(0).get()
        server.stop(0)
    }

    @Test
    fun `a 4xx of a proxy is repeated`() {
        for ((type, status) in listOf("text/html" to 401, "application/json" to 401, "" to 421)) {
            val server = refusing(type, "<html>", status)
            val intake = startFor(server)
            intake.log("tap")
            assertEquals(0, intake.flush().get())
            intake.shutdown(0).get()
            server.stop(0)
        }
    }
}
