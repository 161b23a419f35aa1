package intake.client

import java.io.File
import java.io.IOException
import java.util.concurrent.CopyOnWriteArrayList
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

/** Storage in which the first `failures` reads of the chosen names and keys fail. */
private class FailingReads(
    private val files: Storage,
    private var failures: Int,
    private val isChosen: (String) -> Boolean,
) : Storage by files {
    private fun <Result> fallible(name: String, read: () -> Result): Result {
        if (isChosen(name) && failures-- > 0) throw IOException("it cannot be read: $name")
        return read()
    }

    override fun read(name: String) = fallible(name) { files.read(name) }

    override fun get(key: String) = fallible(key) { files.get(key) }
}

class BrokenStorageTest {
    @get:Rule val folder = TemporaryFolder()

    private val dir by lazy { folder.newFolder() }
    private val bodies = CopyOnWriteArrayList<Map<String, Any?>>()
    private val texts = CopyOnWriteArrayList<String>()

    private val logs
        get() = bodies.flatMap { it["logs"] as List<*> }.map { it as Map<*, *> }

    private fun accept(request: OutgoingRequest): Answer =
        when (request) {
            is OutgoingRequest.Form -> {
                texts.add(request.payload)
                Answer(201, "{\"id\":\"some\"}")
            }
            is OutgoingRequest.Json -> {
                val body = Json.parseObject(request.body)
                bodies.add(body)
                val results = (body["logs"] as List<*>).map { mapOf("status" to "accepted") }
                Answer(207, Json.print(mapOf("results" to results)))
            }
        }

    private fun start(
        storage: Storage = FileStorage { dir },
        transport: Transport = ::accept,
        retryMs: Long = 1,
    ): Intake {
        val options = IntakeOptions()
        options.flushIntervalMs = 3_600_000
        options.retryMsMin = retryMs
        options.retryMsMax = retryMs
        val ports = Ports(storage, transport, JavaTime) { emptyMap() }
        return Intake("com.example.app", options, Worker(), ports)
    }

    /** Starts a client that reaches no server, and pauses for an hour after the first failure. */
    private fun startOffline() =
        start(transport = { throw IOException("unreachable") }, retryMs = 3_600_000)

    private fun failing(failures: Int, isChosen: (String) -> Boolean) =
        FailingReads(FileStorage { dir }, failures, isChosen)

    private val isSegment = { name: String -> parseName(name) != null }

    @Test
    fun `a segment that cannot be read is kept, and sent when it can be read`() {
        val first = startOffline()
        first.log("tap")
        first.shutdown(0).get()
        val next = start(failing(1, isSegment))
        assertEquals(0, next.flush(60_000).get())
        assertEquals(listOf("tap"), logs.map { it["event"] })
        assertEquals(emptyMap<String, Int>(), next.stats().dropped)
        next.shutdown().get()
    }

    @Test
    fun `so is a segment of a killed process, which is read at the start already`() {
        val killed = startOffline()
        killed.log("tap")
        killed.stored().get()
        val next = start(failing(2, isSegment))
        assertEquals(0, next.flush(60_000).get())
        assertEquals(listOf("tap"), logs.map { it["event"] })
        assertEquals(emptyMap<String, Int>(), next.stats().dropped)
        next.shutdown().get()
    }

    @Test
    fun `events are sent in this run if the disk becomes full while their segment is open`() {
        val files = FileStorage { dir }
        var isFull = false
        val full =
            object : Storage by files {
                override fun append(
                    name: String,
                    isNew: Boolean,
                    count: Int,
                    print: (first: Long) -> String,
                ): Boolean {
                    if (isFull) throw IOException("the disk is full")
                    return files.append(name, isNew, count, print)
                }
            }
        val intake = start(full)
        intake.log("stored")
        intake.stored().get()
        val before = intake.stats().storageBytes
        isFull = true
        intake.log("in memory")
        intake.stored().get()
        assertEquals(2, intake.stats().pendingLogs)
        val after = intake.stats().storageBytes
        assertTrue("$before and $after", after in before + 1..2 * before + 50)
        assertEquals(0, intake.flush(60_000).get())
        assertEquals(listOf("stored", "in memory"), logs.map { it["event"] })
        assertEquals(emptyMap<String, Int>(), intake.stats().dropped)
        assertEquals(0L, intake.stats().storageBytes)
        assertEquals(emptyList<String>(), files.list().filter(isSegment))
        intake.shutdown().get()
    }

    @Test
    fun `the numbers of a failed append are used by the next one`() {
        val files = FileStorage { dir }
        files.append("a", true, 1) { first -> "$first\n" }
        assertThrows(IOException::class.java) {
            files.append("a", false, 2) { throw IOException("the disk is full") }
        }
        files.append("b", true, 2) { first -> "$first\n" }
        assertEquals("2\n", files.read("b"))
        files.close()
    }

    @Test
    fun `without a counter events are stored without numbers`() {
        File(dir, "sequence").mkdir()
        val files = FileStorage { dir }
        files.append("a", true, 1) { first -> "$first\n" }
        assertEquals("0\n", files.read("a"))
        files.close()
    }

    @Test
    fun `clients of a directory share its counter, and take back no number of the other one`() {
        val files = FileStorage { dir }
        val other = FileStorage { dir }
        files.append("a", true, 1) { first -> "$first\n" }
        assertThrows(IOException::class.java) {
            files.append("a", false, 2) {
                other.append("b", true, 1) { first -> "$first\n" }
                throw IOException("the disk is full")
            }
        }
        files.append("c", true, 1) { first -> "$first\n" }
        assertEquals(listOf("4\n", "5\n"), listOf(files.read("b"), files.read("c")))
        files.close()
        other.close()
    }

    @Test
    fun `an event that is only in memory has no number, and the next ones go on`() {
        val files = FileStorage { dir }
        var isFull = false
        val full =
            object : Storage by files {
                override fun append(
                    name: String,
                    isNew: Boolean,
                    count: Int,
                    print: (first: Long) -> String,
                ) =
                    files.append(name, isNew, count) { first ->
                        print(first).also { if (isFull) throw IOException("the disk is full") }
                    }
            }
        val intake = start(full)
        intake.log("stored")
        intake.stored().get()
        isFull = true
        intake.log("in memory")
        intake.stored().get()
        assertEquals(0, intake.flush(60_000).get())
        isFull = false
        intake.log("stored again")
        intake.stored().get()
        assertEquals(0, intake.flush(60_000).get())
        assertEquals(
            listOf("stored" to 1L, "in memory" to null, "stored again" to 2L),
            logs.map { it["event"] to (it["sequence"] as Number?)?.toLong() },
        )
        intake.shutdown().get()
    }

    @Test
    fun `a segment that is gone counts as sent by another run`() {
        val first = startOffline()
        first.log("tap")
        first.shutdown(0).get()
        val files = FileStorage { dir }
        val taken =
            object : Storage by files {
                override fun read(name: String): String? {
                    files.remove(name)
                    return files.read(name)
                }
            }
        val next = start(taken)
        assertEquals(0, next.flush(60_000).get())
        assertEquals(0, bodies.size)
        assertEquals(emptyMap<String, Int>(), next.stats().dropped)
        next.shutdown().get()
    }

    @Test
    fun `a feedback that cannot be read is kept, and sent when it can be read`() {
        val first = startOffline()
        assertTrue(first.feedback("It broke.").get().isKept)
        first.shutdown(0).get()
        val next = start(failing(1, ::isFeedback))
        assertEquals(0, next.flush(60_000).get())
        assertEquals(1, texts.size)
        assertTrue(texts[0], "It broke." in texts[0])
        next.shutdown().get()
    }

    @Test
    fun `a feedback that can never be read does not block the next one`() {
        val first = startOffline()
        first.feedback("It broke.").get()
        first.feedback("It broke again.").get()
        first.shutdown(0).get()
        val oldest = FileStorage { dir }.list().filter(::isFeedback).min()
        val next = start(failing(Int.MAX_VALUE) { it == oldest })
        assertEquals(1, next.flush(5_000).get())
        assertEquals(1, texts.size)
        assertTrue(texts[0], "It broke again." in texts[0])
        next.shutdown(0).get()
    }

    @Test
    fun `an optOut that cannot be read is in force`() {
        val first = start()
        first.optOut().get()
        first.shutdown().get()
        val next = start(failing(1000) { it == "opted-out" })
        next.stored().get()
        assertEquals(true, next.stats().isOptedOut)
        assertEquals(null, next.log("tap"))
        next.optIn().get()
        next.shutdown().get()
        val last = start()
        last.stored().get()
        assertEquals(false, last.stats().isOptedOut)
        last.shutdown().get()
    }

    @Test
    fun `what could not be deleted after an optOut is not sent`() {
        val first = startOffline()
        first.log("tap")
        first.shutdown(0).get()
        val files = FileStorage { dir }
        files.set("opted-out", "true".toByteArray())
        val next =
            start(
                object : Storage by files {
                    override fun remove(name: String) =
                        throw IOException("it cannot be deleted: $name")
                }
            )
        assertEquals(0, next.flush(60_000).get())
        assertEquals(0, bodies.size)
        next.shutdown().get()
    }

    @Test
    fun `the UUID of a device that cannot be read is not replaced`() {
        for ((event, failures) in listOf("a" to 0, "b" to 1, "c" to 0)) {
            val intake = start(failing(failures) { it == "device" })
            intake.log(event)
            assertEquals(0, intake.flush(60_000).get())
            intake.shutdown().get()
        }
        val (a, b, c) = bodies.map { it["device_uuid"] as String }
        assertEquals(a, b)
        assertEquals(a, c)
    }

    @Test
    fun `counts of drops that cannot be read are added later`() {
        val first = start()
        first.log("")
        first.stored().get()
        first.shutdown().get()
        val next = start(failing(1) { it == "dropped" })
        next.stored().get()
        next.log("")
        next.log("tap")
        next.flush(60_000).get()
        next.flush(60_000).get()
        assertEquals(listOf("tap", "intake.dropped"), logs.map { it["event"] })
        assertEquals(mapOf("invalid_event" to 2L), logs[1]["params"])
        next.shutdown().get()
    }

    @Test
    fun `a file that is there but cannot be opened is not absent`() {
        val storage = FileStorage { dir }
        assertEquals(null, storage.read("absent"))
        assertEquals(null, storage.get("absent"))
        assertEquals(false, storage.has("absent"))
        // Folders stand in for files that cannot be opened: in both cases Java reports the same
        // error as for a missing file.
        File(dir, "name").mkdir()
        File(dir, "key.value").mkdir()
        assertThrows(IOException::class.java) { storage.read("name") }
        assertThrows(IOException::class.java) { storage.get("key") }
        assertEquals(true, storage.has("key"))
    }

    private fun devices() = bodies.map { it["device_uuid"] }.toSet()

    @Test
    fun `a storage that cannot be read for good is given up, and its device is kept`() {
        val first = start()
        first.log("tap")
        first.shutdown(60_000).get()
        val kept = devices().single() as String
        val next = start(failing(Int.MAX_VALUE) { it == "device" })
        next.log("tap")
        val feedback = next.feedback("It broke.")
        assertEquals(0, next.flush(60_000).get())
        assertTrue(feedback.get().isKept)
        assertEquals(2, devices().size)
        assertTrue(texts.single().contains("\"device_uuid\":\""))
        next.shutdown().get()
        val last = start()
        last.log("tap")
        last.shutdown(60_000).get()
        assertEquals(kept, bodies.last()["device_uuid"])
    }

    @Test
    fun `a directory that cannot be listed is not taken for an empty one`() {
        val loop = File(folder.root, "loop")
        java.nio.file.Files.createSymbolicLink(loop.toPath(), loop.toPath())
        val storage = FileStorage { loop }
        assertThrows(IOException::class.java) { storage.list() }
        assertThrows(IOException::class.java) { storage.get("device") }
        assertThrows(IOException::class.java) { storage.has("opted-out") }
        val absent = FileStorage { File(folder.root, "absent") }
        assertEquals(emptyList<String>(), absent.list())
        assertEquals(null, absent.get("device"))
    }

    @Test
    fun `stats name the last request that failed`() {
        val intake =
            start(
                transport = {
                    Answer(401, """{"code":"unauthorized","detail":"The key is unknown."}""")
                }
            )
        assertEquals(null, intake.stats().lastError)
        intake.log("tap")
        intake.flush(60_000).get()
        val error = intake.stats().lastError!!
        assertEquals(401, error.status)
        assertEquals("unauthorized", error.code)
        assertEquals("The key is unknown.", error.message)
        intake.shutdown().get()
    }

    @Test
    fun `log and feedback never throw, whatever code of the app does`() {
        val options = IntakeOptions()
        options.beforeSend = { TODO() }
        val ports =
            Ports(FileStorage { dir }, ::accept, JavaTime) { throw NotImplementedError("device") }
        val intake = Intake("com.example.app", options, Worker(), ports)
        assertEquals(null, intake.log("tap"))
        val image = Attachment { throw NotImplementedError("image") }
        assertTrue(intake.feedback("It broke.", attachments = listOf(image)).get().isKept)
        assertEquals(0, intake.flush(60_000).get())
        assertEquals(
            mapOf("invalid_event" to 1, "unreadable_attachment" to 1),
            intake.stats().dropped,
        )
        intake.shutdown().get()
    }
}
