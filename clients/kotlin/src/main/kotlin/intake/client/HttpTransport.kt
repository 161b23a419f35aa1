package intake.client

import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.net.HttpURLConnection
import java.net.URL
import java.util.UUID
import java.util.concurrent.Future
import java.util.zip.GZIPOutputStream

private const val CONNECT_MS_MAX = 10_000

/** Timeouts of a whole request, in milliseconds. */
private const val TEXT_MS_MAX = 30_000
/** Enough for four pictures of 10 MiB at 50 kB a second. */
private const val FORM_MS_MAX = 900_000

/** Smaller bodies are not compressed, because compression saves little. */
private const val GZIP_BYTES_MIN = 1000

/**
 * The maximum size of a response, in bytes. Even if all 500 events of a batch have errors, the
 * response is much smaller.
 */
private const val ANSWER_BYTES_MAX = 4_000_000

/** The type of the body of every error response of Intake. */
private const val PROBLEM = "application/problem+json"

/** Returns the prefix of all paths: the address, with `/api` appended if it has no path. */
internal fun prefixOf(url: String): String {
    val prefix = url.trimEnd('/')
    return if (Regex("[a-zA-Z]+://[^/]+").matches(prefix)) "$prefix/api" else prefix
}

/**
 * Sends with `HttpURLConnection`, which both Java and Android have. Compresses JSON bodies that are
 * not small, until the server refuses a compressed body (415).
 *
 * @param schedule the client's timer, which ends requests that take too long
 */
internal class HttpTransport(
    url: String,
    private val apiKey: String,
    private val schedule: (ms: Long, task: () -> Unit) -> Future<*>?,
) : (OutgoingRequest) -> Answer {
    private val prefix = prefixOf(url)
    @Volatile private var compresses = true

    override fun invoke(request: OutgoingRequest): Answer =
        when (request) {
            is OutgoingRequest.Json -> sendText(request)
            is OutgoingRequest.Form -> sendForm(request)
        }

    private fun sendText(request: OutgoingRequest.Json): Answer {
        val body = request.body.toByteArray()
        val type = "content-type" to "application/json"
        if (compresses && body.size >= GZIP_BYTES_MIN) {
            val headers = listOf(type, "content-encoding" to "gzip")
            val answer = send(request.path, headers, listOf(gzip(body)), TEXT_MS_MAX)
            if (answer.status != 415) return answer
            compresses = false
        }
        return send(request.path, listOf(type), listOf(body), TEXT_MS_MAX)
    }

    private fun gzip(body: ByteArray): ByteArray {
        val out = ByteArrayOutputStream(body.size / 4)
        GZIPOutputStream(out).use { it.write(body) }
        return out.toByteArray()
    }

    private fun sendForm(form: OutgoingRequest.Form): Answer {
        val boundary = "intake-${UUID.randomUUID()}"
        val parts = ArrayList<ByteArray>()
        fun part(disposition: String, type: String?, data: ByteArray) {
            val typeLine = if (type == null) "" else "content-type: ${headerText(type)}\r\n"
            val head =
                "--$boundary\r\ncontent-disposition: form-data; $disposition\r\n$typeLine\r\n"
            parts.add(head.toByteArray())
            parts.add(data)
            parts.add("\r\n".toByteArray())
        }
        part("name=\"payload\"", null, form.payload.toByteArray())
        for (attachment in form.attachments) {
            val disposition = "name=\"attachments\"; filename=\"${headerText(attachment.name)}\""
            part(disposition, attachment.type, attachment.data)
        }
        parts.add("--$boundary--\r\n".toByteArray())
        val headers =
            listOf(
                "content-type" to "multipart/form-data; boundary=$boundary",
                // Lets the server store the text even if an attachment is not an image.
                "prefer" to "handling=lenient",
            )
        return send(form.path, headers, parts, FORM_MS_MAX)
    }

    private fun headerText(text: String) =
        text.replace("\"", "%22").replace("\r", "%0D").replace("\n", "%0A")

    private fun send(
        path: String,
        headers: List<Pair<String, String>>,
        body: List<ByteArray>,
        msMax: Int,
    ): Answer {
        val connection = URL(prefix + path).openConnection() as HttpURLConnection
        // A timer limits the whole request: the read timeout applies only to each single read, and
        // there is no timeout for writing.
        val timer = schedule(msMax.toLong(), connection::disconnect)
        try {
            connection.requestMethod = "POST"
            connection.connectTimeout = CONNECT_MS_MAX
            connection.readTimeout = msMax
            connection.useCaches = false
            connection.instanceFollowRedirects = false
            connection.doOutput = true
            // Sends the body without a copy, and prevents Java from repeating a request on its own.
            connection.setFixedLengthStreamingMode(body.sumOf { it.size.toLong() })
            connection.setRequestProperty("x-api-key", apiKey)
            connection.setRequestProperty("user-agent", "intake-client-kotlin")
            for ((name, value) in headers) connection.setRequestProperty(name, value)
            connection.outputStream.use { out -> for (part in body) out.write(part) }
            return read(connection)
        } catch (error: RuntimeException) {
            // If a connection breaks, some releases of Android throw exceptions that are not
            // IOExceptions.
            throw IOException(error)
        } finally {
            timer?.cancel(false)
        }
    }

    private fun read(connection: HttpURLConnection): Answer {
        val status = connection.responseCode
        val stream = if (status < 400) connection.inputStream else connection.errorStream
        // Java withholds the body of a 401, because a streamed request cannot be repeated. The
        // content type shows whether Intake or a proxy sent the 401. A 401 of Intake always has the
        // code `unauthorized`.
        if (status == 401 && stream == null && connection.contentType.orEmpty().startsWith(PROBLEM))
            return Answer(status, "{\"code\":\"unauthorized\"}")
        val body = stream?.use(::readAll) ?: ByteArray(0)
        // Compares the length, because Java treats the early end of a connection as the end of the
        // body.
        val length = connection.getHeaderField("Content-Length")?.toLongOrNull()
        if (length != null && body.size < length) throw IOException("the answer is incomplete")
        val date = connection.getHeaderField("Date")
        return Answer(status, String(body), date, connection.getHeaderField("Retry-After"))
    }

    private fun readAll(stream: InputStream): ByteArray {
        val out = ByteArrayOutputStream()
        val buffer = ByteArray(8192)
        while (true) {
            val length = stream.read(buffer)
            if (length < 0) return out.toByteArray()
            out.write(buffer, 0, length)
            if (out.size() > ANSWER_BYTES_MAX) throw IOException("the answer is too large")
        }
    }
}
