package intake.client

import java.io.IOException

/**
 * Storage in memory. Its content is lost when the process ends. Events that are stored in it get no
 * sequence numbers, because a second counter would repeat numbers of the device's counter.
 */
internal class MemoryStorage : Storage {
    private val values = LinkedHashMap<String, ByteArray>()

    override fun list(): List<String> = values.keys.toList()

    override fun read(name: String): String? = values[name]?.let { String(it) }

    override fun append(
        name: String,
        isNew: Boolean,
        count: Int,
        print: (first: Long) -> String,
    ): Boolean {
        val before = if (isNew) ByteArray(0) else values[name] ?: return false
        values[name] = before + print(0).toByteArray()
        return true
    }

    override fun create(name: String, text: String) {
        values[name] = text.toByteArray()
    }

    override fun rename(from: String, to: String): Boolean {
        values[to] = values.remove(from) ?: return false
        return true
    }

    override fun remove(name: String) {
        values.remove(name)
    }

    override fun get(key: String): ByteArray? = values[key]

    override fun has(key: String) = key in values

    override fun set(key: String, vararg parts: ByteArray) {
        values[key] = parts.fold(ByteArray(0)) { all, part -> all + part }
    }

    override fun sync() = Unit

    override fun close() = Unit
}

/**
 * Storage that keeps new names and values in memory if the real storage is full, forbidden or
 * broken. Reads, `rename` and an append to an existing name throw if the real storage fails, because
 * an empty list, null or false would mean "does not exist".
 */
internal class FallbackStorage(private val storage: Storage) : Storage {
    private val memory = MemoryStorage()

    private inline fun <Result> orElse(preset: Result, call: () -> Result): Result =
        try {
            call()
        } catch (_: IOException) {
            preset
        } catch (_: SecurityException) {
            preset
        }

    private inline fun <Result> orThrow(call: () -> Result): Result =
        try {
            call()
        } catch (error: SecurityException) {
            throw IOException(error)
        }

    override fun list() = orThrow { storage.list() } + memory.list()

    override fun read(name: String) = memory.read(name) ?: orThrow { storage.read(name) }

    override fun append(
        name: String,
        isNew: Boolean,
        count: Int,
        print: (first: Long) -> String,
    ): Boolean {
        if (!isNew)
            return memory.append(name, false, count, print) ||
                orThrow { storage.append(name, false, count, print) }
        return orElse(null) { storage.append(name, true, count, print) }
            ?: memory.append(name, true, count, print)
    }

    override fun create(name: String, text: String) {
        orElse(null) { storage.create(name, text) } ?: memory.create(name, text)
    }

    override fun rename(from: String, to: String) =
        memory.rename(from, to) || orThrow { storage.rename(from, to) }

    override fun remove(name: String) {
        memory.remove(name)
        orElse(Unit) { storage.remove(name) }
    }

    override fun get(key: String) = memory.get(key) ?: orThrow { storage.get(key) }

    override fun has(key: String) = memory.has(key) || orThrow { storage.has(key) }

    override fun set(key: String, vararg parts: ByteArray) {
        memory.remove(key)
        orElse(null) { storage.set(key, *parts) } ?: memory.set(key, *parts)
    }

    override fun sync() = orElse(Unit) { storage.sync() }

    override fun close() = orElse(Unit) { storage.close() }
}
