package intake.client

import java.security.SecureRandom

/**
 * If the clock goes back by more than this, someone has set it, and new ids contain the earlier
 * time. After a smaller step back, new ids keep the time of the last id.
 */
private const val BACK_MS_MAX = 2000L
private const val COUNTER_MAX = 0xfff

/**
 * Makes ascending UUIDv7. Within a millisecond, the twelve bits after the version count up. Only
 * one thread may use an object at a time.
 */
internal class Uuids {
    private val random = SecureRandom()
    private val bytes = ByteArray(10)
    private var last = 0L
    private var counter = 0

    fun next(timeMs: Long): String {
        random.nextBytes(bytes)
        if (timeMs > last || timeMs < last - BACK_MS_MAX) {
            last = timeMs
            // Starts in the lower half of the range, so that the upper half is left for counting.
            counter = (bytes[8].toInt() and 0xff) * 8 + (bytes[9].toInt() and 7)
        } else if (counter++ == COUNTER_MAX) {
            counter = 0
            last++
        }
        bytes[0] = (bytes[0].toInt() and 0x3f or 0x80).toByte()
        val out = StringBuilder(36)
        printTime(out, last)
        out.append("-7")
        printHex(out, counter.toLong(), 3)
        for (at in 0..7) {
            if (at == 0 || at == 2) out.append('-')
            printHex(out, bytes[at].toLong(), 2)
        }
        return out.toString()
    }
}

internal const val UUID_FORM = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
private val uuidForm = Regex(UUID_FORM)

internal fun isUuid(text: String): Boolean = uuidForm.matches(text)

/** The time inside a UUIDv7, in milliseconds since 1970. */
internal fun timeOfUuid(id: String): Long = (id.substring(0, 8) + id.substring(9, 13)).toLong(16)

/** Returns the same UUIDv7 with its time shifted by `ms`. */
internal fun shiftUuid(id: String, ms: Long): String {
    val out = StringBuilder(36)
    printTime(out, timeOfUuid(id) + ms)
    return out.append(id, 13, id.length).toString()
}

/** Prints a time as the first 48 bits of a UUIDv7, with its first hyphen. */
private fun printTime(out: StringBuilder, timeMs: Long) {
    val time = maxOf(timeMs, 0)
    printHex(out, time shr 16, 8)
    out.append('-')
    printHex(out, time, 4)
}

private fun printHex(out: StringBuilder, value: Long, digits: Int) {
    for (at in digits - 1 downTo 0) out.append(HEX[(value shr (4 * at)).toInt() and 15])
}
