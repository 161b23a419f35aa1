package intake.client

private const val ID_AT = "{\"id\":\"".length
private const val ID_END = ID_AT + 36

/**
 * Prints an event as JSON without its closing brace.
 *
 * @param params as JSON
 * @param deviceMs the time of the device's clock if it differs from the time in the id; otherwise 0
 */
internal fun printLine(id: String, event: String, params: String, deviceMs: Long): String {
    val line = "{\"id\":\"$id\",\"event\":${Json.print(event)},\"params\":$params"
    return if (deviceMs == 0L) line else line + printTimestamp(deviceMs)
}

/**
 * Adds the sequence number and the closing brace.
 *
 * @param sequence 0 if the event has none
 */
internal fun closeLine(line: String, sequence: Long): String =
    if (sequence == 0L) "$line}" else "$line,\"sequence\":$sequence}"

internal fun idOf(line: String): String = line.substring(ID_AT, ID_END)

/**
 * Returns the event with the time in its id shifted by `ms`. An event without a timestamp gets one:
 * the id's time before the shift, which is the time of the device's clock.
 */
internal fun shiftLine(line: String, ms: Long, hasTimestamp: Boolean): String {
    if (ms == 0L) return line
    val id = idOf(line)
    val timestamp = if (hasTimestamp) "" else printTimestamp(timeOfUuid(id))
    return "{\"id\":\"${shiftUuid(id, ms)}${line.substring(ID_END, line.length - 1)}$timestamp}"
}

private fun printTimestamp(ms: Long) = ",\"timestamp\":\"${printIso(ms)}\""

/** The size of a text in UTF-8. */
internal fun textBytes(text: String): Int {
    var bytes = text.length
    for (unit in text) {
        if (unit.code < 0x80) continue
        // The two units of a surrogate pair have four bytes together.
        bytes += if (unit.code < 0x800 || unit.isSurrogate()) 1 else 2
    }
    return bytes
}
