package intake.client

import java.io.File
import java.io.IOException
import java.util.UUID
import java.util.concurrent.CopyOnWriteArrayList
import org.junit.Assert.assertEquals
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

/** Tests with unexpected files in the directory: files of other programs, and damaged files. */
class DirectoryTest {
    @get:Rule val folder = TemporaryFolder()

    private val dir by lazy { folder.newFolder() }
    private val bodies = CopyOnWriteArrayList<Map<String, Any?>>()
    private val texts = CopyOnWriteArrayList<String>()

    private val events
        get() = bodies.flatMap { it["logs"] as List<*> }.map { (it as Map<*, *>)["event"] }

    private fun accept(request: OutgoingRequest): Answer {
        if (request is OutgoingRequest.Form) {
            texts.add(request.payload)
            return Answer(201, "{\"id\":\"some\"}")
        }
        val body = Json.parseObject((request as OutgoingRequest.Json).body)
        bodies.add(body)
        val results = (body["logs"] as List<*>).map { mapOf("status" to "accepted") }
        return Answer(207, Json.print(mapOf("results" to results)))
    }

    private fun start(transport: Transport = ::accept, retryMs: Long = 1): Intake {
        val options = IntakeOptions()
        options.flushIntervalMs = 3_600_000
        options.retryMsMin = retryMs
        options.retryMsMax = retryMs
        val ports = Ports(FileStorage { dir }, transport, JavaTime) { emptyMap() }
        return Intake("com.example.app", options, Worker(), ports)
    }

    private fun startOffline() =
        start(transport = { throw IOException("unreachable") }, retryMs = 3_600_000)

    /** Starts a client, and ends it after it has stored an event. Returns the event's file. */
    private fun leaveEvent(): File {
        val client = startOffline()
        client.log("good")
        client.shutdown(0).get()
        return dir.listFiles()!!.single { parseName(it.name) != null }
    }

    private fun write(names: Collection<String>) =
        names.forEach { File(dir, it).writeText("not yours") }

    @Test
    fun `files of others stay as they are`() {
        val id = UUID.randomUUID()
        val foreign =
            listOf(
                "1.2.3.4.5.6.7",
                "$id.0.2.4.5.6.7",
                "1.0.2.$id.5.6.7",
                "app.log.2026.11.26.12.gz",
                "feedback-notes.txt",
                "feedback-notes.value",
                "settings.value",
                "state.json.new",
            )
        write(foreign)
        val intake = start()
        intake.log("tap")
        assertEquals(0, intake.flush().get())
        intake.optOut().get()
        intake.shutdown().get()
        assertEquals(foreign.sorted(), dir.list()!!.filter { it in foreign }.sorted())
        assertEquals(emptyMap<String, Int>(), intake.stats().dropped)
        assertEquals(listOf("tap"), events)
    }

    @Test
    fun `names with strange numbers cost no event`() {
        val good = leaveEvent().name.split('.')
        val numbers = listOf("${Long.MAX_VALUE}", "${Long.MIN_VALUE}", "9".repeat(30), "+1", "01")
        val foreign = HashSet<String>()
        for (at in listOf(1, 2, 4, 5, 6)) for (number in numbers)
            for (key in listOf(good[0], "${UUID.randomUUID()}")) {
                val parts = good.toMutableList()
                parts[0] = key
                parts[at] = number
                foreign.add(parts.joinToString("."))
            }
        write(foreign)
        val intake = start()
        assertEquals(0, intake.flush().get())
        assertEquals(listOf("good"), events)
        assertEquals(emptyMap<String, Int>(), intake.stats().dropped)
        intake.shutdown().get()
        assertEquals(foreign, dir.list()!!.filter { it in foreign }.toSet())
    }

    @Test
    fun `a damaged line costs no other event`() {
        val file = leaveEvent()
        file.appendText("{\"id\":\"1\"}\n")
        val intake = start()
        assertEquals(0, intake.flush(2000).get())
        assertEquals(listOf("good"), events)
        intake.shutdown(0).get()
    }

    @Test
    fun `a value that cannot be parsed hides nothing else`() {
        val form = { length: String ->
            "{\"payload\":\"{}\",\"attachments\":[{\"name\":\"\",\"type\":\"\",\"length\":$length}]}\n"
        }
        for ((victim, text) in
            listOf(
                "device" to "",
                "device" to "1",
                "dropped" to "",
                "dropped" to "[".repeat(100_000),
                "opted-out" to "",
                "sequence" to "",
                "feedback" to "",
                "feedback" to form("-1"),
                "feedback" to form("${Long.MAX_VALUE}"),
            )) {
            dir.listFiles()?.forEach { it.delete() }
            bodies.clear()
            texts.clear()
            val first = startOffline()
            for (one in listOf("a", "b")) first.feedback(one).get()
            first.log("kept")
            first.log("")
            first.stored().get()
            if (victim == "opted-out") first.optOut().get()
            first.shutdown(0).get()
            dir.listFiles()!!.first { it.name.startsWith(victim) }.writeText(text)
            for (event in listOf("c", "d")) {
                val next = start()
                next.stored().get()
                next.log(event)
                next.flush().get()
                next.shutdown().get()
            }
            val isOut = victim == "opted-out"
            val sent = events.filter { it != "intake.dropped" }
            assertEquals(victim, if (isOut) listOf() else listOf("kept", "c", "d"), sent)
            val isOne = bodies.drop(1).mapTo(HashSet()) { it["device_uuid"] }.size == 1
            assertEquals("the device keeps its next UUID", !isOut, isOne)
            val forms = if (isOut) 0 else if (victim == "feedback") 1 else 2
            assertEquals(victim, forms, texts.size)
        }
    }
}
