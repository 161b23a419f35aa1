package intake.client

import java.util.Date

/**
 * The maximum nesting of an event's params. Without a limit, printing a list that contains itself
 * would never end.
 */
private const val DEPTH_MAX = 100

internal class JsonException(message: String) : Exception(message)

/**
 * Prints and parses JSON. This class is needed because a plain JVM lacks Android's `org.json`. A
 * library would be one more dependency of every app.
 */
internal object Json {
    /**
     * Prints maps, lists, arrays, texts, numbers, booleans and null. Prints dates as ISO 8601 in
     * UTC, NaN and infinite numbers as null, and all other values as their `toString`.
     *
     * @throws JsonException if the value is nested too deeply
     */
    fun print(value: Any?): String = StringBuilder(128).also { printTo(it, value, 0) }.toString()

    private fun printTo(out: StringBuilder, value: Any?, depth: Int) {
        if (depth > DEPTH_MAX) throw JsonException("it is nested too deeply")
        when (value) {
            null -> out.append("null")
            is CharSequence -> printText(out, value)
            is Double ->
                if (value.isNaN() || value.isInfinite()) out.append("null") else out.append(value)
            is Float ->
                if (value.isNaN() || value.isInfinite()) out.append("null") else out.append(value)
            is Number,
            is Boolean -> out.append(value.toString())
            is Map<*, *> -> printMap(out, value, depth)
            is Iterable<*> -> printAll(out, value.iterator(), depth)
            is Array<*> -> printAll(out, value.iterator(), depth)
            is IntArray -> printAll(out, value.iterator(), depth)
            is LongArray -> printAll(out, value.iterator(), depth)
            is DoubleArray -> printAll(out, value.iterator(), depth)
            is FloatArray -> printAll(out, value.iterator(), depth)
            is BooleanArray -> printAll(out, value.iterator(), depth)
            is Date -> printText(out, printIso(value.time))
            else -> printText(out, value.toString())
        }
    }

    private fun printMap(out: StringBuilder, map: Map<*, *>, depth: Int) {
        var separator = '{'
        for ((key, value) in map) {
            out.append(separator)
            printText(out, key.toString())
            out.append(':')
            printTo(out, value, depth + 1)
            separator = ','
        }
        out.append(if (separator == '{') "{}" else "}")
    }

    private fun printAll(out: StringBuilder, values: Iterator<*>, depth: Int) {
        var separator = '['
        for (value in values) {
            out.append(separator)
            printTo(out, value, depth + 1)
            separator = ','
        }
        out.append(if (separator == '[') "[]" else "]")
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
