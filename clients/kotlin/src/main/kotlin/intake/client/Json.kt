package intake.client

import java.util.Date

/** The maximum nesting that is parsed. */
private const val DEPTH_MAX = 100

private val numberForm = Regex("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")

internal class JsonException(message: String) : Exception(message)

/**
 * Prints and parses JSON. This class is needed because a plain JVM lacks Android's `org.json`. A
 * library would be one more dependency of every app.
 */
internal object Json {
    /**
     * Prints maps, lists, arrays, texts, numbers, booleans and null. Prints dates as ISO 8601 in
     * UTC, throwables with their message, stack and cause, and all other values as their
     * `toString`. A value that JSON cannot represent becomes text: a number that is not finite, a
     * list that contains itself, a value whose own code throws.
     */
    fun print(value: Any?): String = Printer().print(value)

    private class Printer {
        private val out = StringBuilder(128)

        /** The containers of the current value. */
        private val path = ArrayList<Any>()

        fun print(value: Any?): String {
            append(value)
            return out.toString()
        }

        private fun append(value: Any?) {
            when (value) {
                null -> out.append("null")
                is String -> printText(out, value)
                is Int,
                is Long,
                is Boolean -> out.append(value)
                else -> appendOther(value)
            }
        }

        /** If code of the app throws, the value becomes the text of the error. */
        private fun appendOther(value: Any) {
            val from = out.length
            val depth = path.size
            try {
                if (path.any { it === value }) return printText(out, "[Circular]")
                if (depth > JSON_DEPTH_MAX) return printText(out, "[Too deep]")
                path.add(value)
                appendKind(value)
            } catch (error: Throwable) {
                out.setLength(from)
                printText(out, error.javaClass.name + (error.message?.let { ": $it" } ?: ""))
            }
            while (path.size > depth) path.removeAt(path.size - 1)
        }

        private fun appendKind(value: Any) {
            when (value) {
                is CharSequence -> printText(out, value)
                is Number -> {
                    val text = value.toString()
                    if (numberForm.matches(text)) out.append(text) else printText(out, text)
                }
                is Map<*, *> -> appendMap(value)
                is Iterable<*> -> appendAll(value.iterator())
                is Array<*> -> appendAll(value.iterator())
                is ByteArray -> appendAll(value.map { it.toInt() and 255 }.iterator())
                is ShortArray -> appendAll(value.iterator())
                is IntArray -> appendAll(value.iterator())
                is LongArray -> appendAll(value.iterator())
                is DoubleArray -> appendAll(value.iterator())
                is FloatArray -> appendAll(value.iterator())
                is BooleanArray -> appendAll(value.iterator())
                is CharArray -> printText(out, String(value))
                is Date -> printText(out, printIso(value.time))
                is Throwable ->
                    appendMap(
                        mapOf(
                            "name" to value.javaClass.name,
                            "message" to value.message,
                            "stack" to value.stackTraceToString(),
                            "cause" to value.cause,
                        )
                    )
                else -> printText(out, value.toString())
            }
        }

        private fun appendMap(map: Map<*, *>) {
            var separator = '{'
            for ((key, value) in map) {
                out.append(separator)
                printText(out, key.toString())
                out.append(':')
                append(value)
                separator = ','
            }
            out.append(if (separator == '{') "{}" else "}")
        }

        private fun appendAll(values: Iterator<*>) {
            var separator = '['
            for (value in values) {
                out.append(separator)
                append(value)
                separator = ','
            }
            out.append(if (separator == '[') "[]" else "]")
        }
    }

    private fun printText(out: StringBuilder, text: CharSequence) {
        out.append('"')
        for (at in text.indices) {
            val unit = text[at]
            when {
                unit == '"' || unit == '\\' -> out.append('\\').append(unit)
                unit == '\n' -> out.append("\\n")
                unit < ' ' || unit.isSurrogate() && !isPaired(text, at) -> printUnit(out, unit)
                else -> out.append(unit)
            }
        }
        out.append('"')
    }

    private fun isPaired(text: CharSequence, at: Int): Boolean =
        if (text[at].isHighSurrogate()) at + 1 < text.length && text[at + 1].isLowSurrogate()
        else at > 0 && text[at - 1].isHighSurrogate()

    private fun printUnit(out: StringBuilder, unit: Char) {
        out.append("\\u")
        for (shift in intArrayOf(12, 8, 4, 0)) out.append(HEX[unit.code shr shift and 15])
    }

    /**
     * Parses a JSON object. Never throws: a text that is not a JSON object, such as a network's
     * login page, gives an empty map.
     */
    @Suppress("UNCHECKED_CAST")
    fun parseObject(text: String): Map<String, Any?> =
        try {
            parse(text) as? Map<String, Any?> ?: emptyMap()
        } catch (_: JsonException) {
            emptyMap()
        }

    /** Parses a JSON value. Whole numbers become `Long`, other numbers `Double`. */
    fun parse(text: String): Any? = Parser(text).parse()

    private class Parser(private val text: String) {
        private var at = 0

        fun parse(): Any? {
            val value = value(0)
            skipSpace()
            if (at < text.length) fail()
            return value
        }

        private fun fail(): Nothing = throw JsonException("no JSON at $at")

        private fun skipSpace() {
            while (at < text.length && text[at] in " \t\r\n") at++
        }

        private fun peek(): Char {
            skipSpace()
            return if (at < text.length) text[at] else fail()
        }

        private fun expect(sign: Char) {
            if (peek() != sign) fail()
            at++
        }

        private fun value(depth: Int): Any? {
            if (depth > DEPTH_MAX) fail()
            return when (peek()) {
                '{' -> map(depth)
                '[' -> list(depth)
                '"' -> string()
                't' -> word("true", true)
                'f' -> word("false", false)
                'n' -> word("null", null)
                else -> number()
            }
        }

        private fun map(depth: Int): Map<String, Any?> {
            val map = LinkedHashMap<String, Any?>()
            each('}') {
                if (peek() != '"') fail()
                val key = string()
                expect(':')
                map[key] = value(depth + 1)
            }
            return map
        }

        private fun list(depth: Int): List<Any?> {
            val list = ArrayList<Any?>()
            each(']') { list.add(value(depth + 1)) }
            return list
        }

        private inline fun each(end: Char, read: () -> Unit) {
            at++
            if (peek() == end) {
                at++
                return
            }
            while (true) {
                read()
                if (peek() == end) break
                expect(',')
            }
            at++
        }

        private fun word(word: String, value: Any?): Any? {
            if (!text.startsWith(word, at)) fail()
            at += word.length
            return value
        }

        private fun number(): Any {
            val from = at
            while (at < text.length && text[at] in "+-.0123456789eE") at++
            val digits = text.substring(from, at)
            return digits.toLongOrNull() ?: digits.toDoubleOrNull() ?: fail()
        }

        private fun string(): String {
            at++
            val from = at
            while (at < text.length && text[at] != '"' && text[at] != '\\') at++
            val out = StringBuilder().append(text, from, at)
            while (at < text.length) {
                val unit = text[at++]
                if (unit == '"') return out.toString()
                out.append(if (unit == '\\') escaped() else unit)
            }
            fail()
        }

        private fun escaped(): Char {
            if (at == text.length) fail()
            return when (val sign = text[at++]) {
                'n' -> '\n'
                't' -> '\t'
                'r' -> '\r'
                'b' -> '\b'
                'f' -> '\u000c'
                '"',
                '\\',
                '/' -> sign
                'u' -> {
                    at += 4
                    if (at > text.length) fail()
                    (text.substring(at - 4, at).toIntOrNull(16) ?: fail()).toChar()
                }
                else -> fail()
            }
        }
    }
}

internal const val HEX = "0123456789abcdef"
