package intake.client

import java.text.ParseException
import java.text.SimpleDateFormat
import java.util.Date
import java.util.Locale
import java.util.TimeZone

// Creates a format for each use, because `SimpleDateFormat` is not thread-safe and `java.time`
// needs Android 8.

private fun format(pattern: String) =
    SimpleDateFormat(pattern, Locale.US).apply { timeZone = TimeZone.getTimeZone("UTC") }

/** Prints a time such as `2026-11-26T08:15:30.123Z`. */
internal fun printIso(ms: Long): String = format("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").format(Date(ms))

/**
 * Parses a time in the form that `printIso` prints, to milliseconds since 1970. Returns null for
 * any other text.
 */
internal fun parseIso(text: String?): Long? = parse("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", text)

/** Parses the date of a header field, such as `Thu, 26 Nov 2026 08:15:30 GMT`. */
internal fun parseHttpDate(text: String?): Long? = parse("EEE, dd MMM yyyy HH:mm:ss 'GMT'", text)

private fun parse(pattern: String, text: String?): Long? =
    try {
        text?.let { format(pattern).parse(it)?.time }
    } catch (_: ParseException) {
        null
    }
