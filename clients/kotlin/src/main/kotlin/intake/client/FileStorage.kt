package intake.client

import java.io.File
import java.io.FileNotFoundException
import java.io.FileOutputStream
import java.io.IOException
import java.io.RandomAccessFile

private const val SEQUENCE_FILE = "sequence"
private const val VALUE_END = ".value"
private const val TEMPORARY_END = ".new"
private const val DIGITS = 16

/** In the name of a run, this text precedes the id of the process: `<UUID>-pid4711`. */
private const val PID_MARK = "-pid"

/**
 * Storage in a directory, with a file for each segment and each value. It uses only `java.io`,
 * because `java.nio.file` needs Android 8.
 *
 * @param directory returns the directory; called once, on a thread of the client
 */
internal class FileStorage(directory: () -> File) : Storage {
    private val openDir by lazy(directory)
    private var isClosed = false

    /**
     * The directory. Throws after `close`, because another client may then have taken over the
     * files.
     */
    private val dir
        get() = if (isClosed) throw IOException("the storage is closed") else openDir

    /** The segment that is open for appending. */
    private var growingName = ""
    private var growing: FileOutputStream? = null
    private var sequenceFile: RandomAccessFile? = null

    private fun fileOf(name: String) = File(dir, name)

    private fun make() {
        if (!dir.isDirectory && !dir.mkdirs() && !dir.isDirectory)
            throw IOException("no directory: $dir")
    }

    /** The file with the device's counter: the last sequence number reserved for an event. */
    private fun openSequence() =
        sequenceFile ?: RandomAccessFile(fileOf(SEQUENCE_FILE), "rw").also { sequenceFile = it }

    /** Reads the last reserved number each time, because processes share the counter. */
    private fun readSequence(): Long {
        val digits = ByteArray(DIGITS)
        val length = openSequence().run {
            seek(0)
            read(digits)
        }
        return String(digits, 0, maxOf(length, 0)).toLongOrNull() ?: 0
    }

    /**
     * Writes the last reserved number, without a sync to disk. The counter survives the end of the
     * process, but after a power failure numbers may be used twice.
     */
    private fun writeSequence(last: Long) =
        openSequence().run {
            seek(0)
            write(last.toString().padStart(DIGITS, '0').toByteArray())
        }

    /** Reserves sequence numbers. Returns the first; 0 if the counter cannot be read or written. */
    private fun reserve(count: Int): Long =
        try {
            val last = readSequence()
            writeSequence(last + count)
            last + 1
        } catch (_: IOException) {
            0
        }

    /**
     * Takes back numbers with which nothing was stored. Has no effect if other numbers were
     * reserved after them.
     */
    private fun takeBack(first: Long, count: Int) {
        if (readSequence() == first + count - 1) writeSequence(first - 1)
    }

    /**
     * The names of all files. Throws if the directory exists but cannot be listed, for example
     * because it is a link that leads nowhere at the moment.
     */
    private fun names(): Array<String> {
        dir.list()?.let {
            return it
        }
        if (dir.exists() || dir.parentFile?.list()?.contains(dir.name) == true)
            throw IOException("it cannot be listed: $dir")
        return emptyArray()
    }

    override fun list(): List<String> =
        names()
            .filter { !it.endsWith(TEMPORARY_END) && !isOfRunningProcess(it) }
            .map { it.removeSuffix(VALUE_END) }

    override fun read(name: String): String? = readBytes(name)?.let { String(it) }

    private fun readBytes(name: String): ByteArray? =
        try {
            fileOf(name).readBytes()
        } catch (error: FileNotFoundException) {
            // Java also throws this exception if the file exists but cannot be opened, for example
            // because the process has too many open files.
            if (name in names()) throw error
            null
        }

    override fun append(
        name: String,
        isNew: Boolean,
        count: Int,
        print: (first: Long) -> String,
    ): Boolean {
        if (isNew) {
            make()
            closeGrowing()
            if (!fileOf(name).createNewFile()) throw IOException("it exists already: $name")
            growing = FileOutputStream(fileOf(name), true)
            growingName = name
        } else if (growingName != name || !fileOf(name).exists()) return false
        val file = growing!!
        val before = file.channel.size()
        val first = reserve(count)
        try {
            file.write(print(first).toByteArray())
        } catch (error: IOException) {
            if (isNew) remove(name) else file.channel.truncate(before)
            if (first > 0) takeBack(first, count)
            throw error
        }
        // Checks after the write whether the file still exists: another process may take it over,
        // and rename it, at any moment.
        return fileOf(name).exists()
    }

    override fun create(name: String, text: String) {
        make()
        write(fileOf(name), listOf(text.toByteArray()))
    }

    override fun rename(from: String, to: String): Boolean {
        if (growingName == from) closeGrowing()
        if (!fileOf(from).renameTo(fileOf(to))) {
            if (fileOf(from).exists()) throw IOException("it cannot be renamed: $from")
            return false
        }
        // Makes the new name survive a power failure: on the file systems of Android and Linux,
        // syncing the file is enough for that. If the sync fails, the failure is ignored, because
        // the file has its new name in any case.
        try {
            FileOutputStream(fileOf(to), true).use { it.fd.sync() }
        } catch (_: IOException) {}
        return true
    }

    override fun remove(name: String) {
        if (growingName == name) closeGrowing()
        for (file in listOf(fileOf(name), fileOf(name + VALUE_END))) {
            if (!file.delete() && file.exists()) throw IOException("it cannot be deleted: $name")
        }
    }

    override fun get(key: String): ByteArray? = readBytes(key + VALUE_END)

    override fun has(key: String) = key + VALUE_END in names()

    override fun set(key: String, vararg parts: ByteArray) {
        make()
        write(fileOf(key + VALUE_END), parts.asList())
    }

    /** Replaces a file in one step. After a kill, the file has its old or its new content. */
    private fun write(file: File, parts: List<ByteArray>) {
        val temporary = File(file.path + TEMPORARY_END)
        FileOutputStream(temporary).use { out ->
            for (part in parts) out.write(part)
            out.fd.sync()
        }
        if (!temporary.renameTo(file)) throw IOException("it cannot be renamed: $temporary")
        FileOutputStream(file, true).use { it.fd.sync() }
    }

    override fun sync() {
        growing?.fd?.sync()
    }

    private fun closeGrowing() {
        growing?.close()
        growing = null
        growingName = ""
    }

    override fun close() {
        closeGrowing()
        sequenceFile?.close()
        sequenceFile = null
        isClosed = true
    }
}

/** The part of a run's name that contains the id of the process; empty if there is no `/proc`. */
internal fun processSuffix(): String = pid?.let { PID_MARK + it } ?: ""

private val pid: String? by lazy {
    try {
        File("/proc/self").canonicalFile.name.takeIf { it.toIntOrNull() != null }
    } catch (_: IOException) {
        null
    }
}

/**
 * Whether a file belongs to another process that is running. If the owner has ended and a new
 * process has the same id, the file is taken over only after the new process has ended.
 */
private fun isOfRunningProcess(name: String): Boolean {
    val owner = name.substringAfter(PID_MARK, "").substringBefore('.')
    return owner != "" && owner != pid && File("/proc/$owner").exists()
}
