package intake.client

import java.math.BigDecimal
import java.util.Date
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

class JsonTest {
    @Test
    fun `values of every kind are printed as JSON`() {
        val params =
            linkedMapOf(
                "text" to "Grüße \"你好\" 👋\n\u0001\\",
                "numbers" to listOf(42, -7L, 0.1, 0.5f, 4_200_000_000),
                "none" to listOf(Double.NaN, Float.POSITIVE_INFINITY, null),
                "nested" to
                    mapOf(
                        "a" to arrayOf<Any>(true, emptyMap<String, Any>()),
                        "b" to intArrayOf(1, 2),
                    ),
                "date" to Date(0),
                "other" to Decision.RETRY,
                "empty" to emptyList<Any>(),
            )
        assertEquals(
            """{"text":"Grüße \"你好\" 👋\n\u0001\\","numbers":[42,-7,0.1,0.5,4200000000],""" +
                """"none":["NaN","Infinity",null],"nested":{"a":[true,{}],"b":[1,2]},""" +
                """"date":"1970-01-01T00:00:00.000Z","other":"RETRY","empty":[]}""",
            Json.print(params),
        )
    }

    @Test
    fun `half of a surrogate pair is escaped, because UTF-8 has no place for it`() {
        assertEquals("\"\\ud83d.\\udc4b👋\"", Json.print("\ud83d.\udc4b\ud83d\udc4b"))
    }

    /** A number such as those of libraries for fractions. */
    private class Fraction : Number() {
        override fun toString() = "1/2"

        override fun toByte(): Byte = 0

        override fun toDouble() = 0.5

        override fun toFloat() = 0.5f

        override fun toInt() = 0

        override fun toLong() = 0L

        override fun toShort(): Short = 0
    }

    @Test
    fun `a value that is no JSON is text, and costs no other value`() {
        val list = ArrayList<Any>()
        list.add(list)
        val recursive =
            object {
                override fun toString(): String = "$this"
            }
        val broken =
            object : Iterable<Any> {
                override fun iterator() = throw IllegalStateException("no")
            }
        val params =
            linkedMapOf(
                "self" to list,
                "recursive" to recursive,
                "broken" to listOf(1, broken),
                "fraction" to Fraction(),
                "big" to BigDecimal("1E+3"),
                "bytes" to byteArrayOf(1, -1),
                "text" to charArrayOf('a', 'b'),
                "kept" to 1,
            )
        assertEquals(
            """{"self":["[Circular]"],"recursive":"java.lang.StackOverflowError",""" +
                """"broken":[1,"java.lang.IllegalStateException: no"],"fraction":"1/2",""" +
                """"big":1E+3,"bytes":[1,255],"text":"ab","kept":1}""",
            Json.print(params),
        )
    }

    @Test
    fun `a throwable keeps its name, message, stack and cause`() {
        val error = IllegalStateException("outer", NumberFormatException("inner"))
        val printed = Json.parseObject(Json.print(error))
        assertEquals("java.lang.IllegalStateException", printed["name"])
        assertEquals("outer", printed["message"])
        assertTrue((printed["stack"] as String).contains("JsonTest"))
        assertEquals("inner", (printed["cause"] as Map<*, *>)["message"])
    }

    @Test
    fun `what is nested too deeply for the gateway is text`() {
        var nested: Any = 1
        repeat(5000) { nested = listOf(nested) }
        assertEquals("[".repeat(25) + "\"[Too deep]\"" + "]".repeat(25), Json.print(nested))
    }

    @Test
    fun `what is printed is read again`() {
        val value =
            mapOf(
                "a" to listOf(1L, -2.5, true, false, null, "x\"\\\u0007👋"),
                "b" to mapOf("" to emptyList<Any>()),
            )
        assertEquals(value, Json.parse(" ${Json.print(value)}\n"))
        assertEquals("\u00e9/\b\u000c\r\t", Json.parse("\"\\u00E9\\/\\b\\f\\r\\t\""))
    }

    @Test
    fun `what is no JSON object reads as an empty one`() {
        for (text in
            listOf(
                "",
                "<html>",
                "{",
                "{\"a\":1",
                "{\"a\":1}x",
                "[1]",
                "\"a",
                "{\"a\" 1}",
                "[1,]",
                "nul",
                "[".repeat(5000),
            )) assertEquals(emptyMap<String, Any?>(), Json.parseObject(text))
    }
}
