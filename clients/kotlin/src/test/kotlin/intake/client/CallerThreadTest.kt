package intake.client

import java.io.File
import java.security.Permission
import java.util.Collections
import org.junit.Assert.assertEquals
import org.junit.Assume.assumeTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class CallerThreadTest {
    @get:Rule val folder = TemporaryFolder()

    @Test
    fun `no call uses a file or the network on the thread of its caller`() {
        assumeTrue("Java 24 has no security manager", Runtime.version().feature() < 24)
        // Loads the classes first, because loading them reads files.
        useEverything(folder.newFolder())
        val storage = folder.newFolder()
        val watch = Watch(Thread.currentThread())
        assertEquals(
            "the watch works",
            listOf("read ${storage.path}"),
            watch.during { storage.exists() },
        )
        assertEquals(emptyList<String>(), watch.during { useEverything(storage) })
    }

    private fun useEverything(storage: File) {
        val intake =
            Intake("http://127.0.0.1:9", "ik_test", "com.example.app", storage) {
                flushIntervalMs = 1
                storageEventsMax = 100
                beforeSend = { it }
                onDrop = { _, _ -> }
            }
        for (n in 1..500) intake.log("tap", mapOf("n" to n))
        intake.identify("user-1")
        intake.log("")
        intake.feedback("It broke.", attachments = listOf(Attachment(byteArrayOf(1)))).get()
        intake.stored().get()
        intake.flush(50).get()
        intake.stats()
        intake.optOut().get()
        intake.optIn().get()
        intake.log("tap")
        intake.shutdown(50).get()
    }
}

/** Records which files and hosts a thread uses. */
@Suppress("DEPRECATION", "removal")
private class Watch(private val thread: Thread) : SecurityManager() {
    private val seen = Collections.synchronizedList(ArrayList<String>())

    fun during(work: () -> Unit): List<String> {
        seen.clear()
        System.setSecurityManager(this)
        try {
            work()
        } finally {
            System.setSecurityManager(null)
        }
        return ArrayList(seen)
    }

    private fun note(what: String) {
        if (Thread.currentThread() !== thread) return
        val frames = Throwable().stackTrace
        if (
            frames.none {
                it.className.endsWith("ClassLoader") || it.className.endsWith("BuiltinClassLoader")
            }
        )
            seen.add(what)
    }

    override fun checkPermission(permission: Permission) = Unit

    override fun checkRead(file: String) = note("read $file")

    override fun checkWrite(file: String) = note("write $file")

    override fun checkDelete(file: String) = note("delete $file")

    override fun checkConnect(host: String, port: Int) = note("connect $host:$port")
}
