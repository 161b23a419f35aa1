package intake.client

import java.util.Date
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
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
                """"none":[null,null,null],"nested":{"a":[true,{}],"b":[1,2]},""" +
                """"date":"1970-01-01T00:00:00.000Z","other":"RETRY","empty":[]}""",
            Json.print(params),
        )
    }

    @Test
    fun `half of a surrogate pair is escaped, because UTF-8 has no place for it`() {
        assertEquals("\"\\ud83d.\\udc4b👋\"", Json.print("\ud83d.\udc4b\ud83d\udc4b"))
    }

    @Test
    fun `a list that contains itself is refused`() {
        val list = ArrayList<Any>()
        list.add(list)
        assertThrows(JsonException::class.java) { Json.print(list) }
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
