package intake.client.adapter

import intake.client.Attachment
import intake.client.Intake
import intake.client.IntakeOptions
import intake.client.Json
import intake.client.Stats
import intake.client.TimeSource
import intake.client.createJavaIntake
import java.io.File

// A process with a client for the JVM, for the conformance suite and the tests of durability. It
// reads one call per line of standard input, `{ "id", "method", "args" }`, and writes the result of
// each to standard output.

fun main() {
    for (line in System.`in`.bufferedReader().lineSequence()) {
        // Handles each call in a thread, so that a flush does not block later calls.
        Thread { println(respond(Json.parseObject(line))) }.start()
    }
}

private fun respond(call: Map<String, Any?>): String {
    val id = call["id"]
    return try {
        Json.print(mapOf("id" to id, "result" to run(call["method"], call["args"] as List<*>)))
    } catch (error: Throwable) {
        Json.print(mapOf("id" to id, "error" to error.toString()))
    }
}

private object ShiftedTime : TimeSource {
    @Volatile var aheadMs = 0L

    override fun now() = System.currentTimeMillis() + aheadMs

    override fun monotonic() = System.nanoTime() / 1_000_000
}

private var client: Intake? = null

@Suppress("UNCHECKED_CAST")
private fun run(method: Any?, args: List<*>): Any? {
    if (method == "init") return init(args[0] as Map<String, Any?>)
    if (method == "clock") {
        ShiftedTime.aheadMs = args[0] as Long
        return null
    }
    val intake = client!!
    return when (method) {
        "log" -> {
            val id = intake.log(args[0] as String, args[1] as Map<String, Any?>)
            intake.stored().get()
            mapOf("id" to id)
        }
        "logs" -> {
            val (from, count, event) = args
            for (n in from as Long until from + count as Long) intake.log(
                event as String,
                mapOf("n" to n),
            )
            intake.stored().get()
            mapOf("stored" to count)
        }
        "feedback" -> {
            val (text, email, attachments) = args
            val images = (attachments as List<*>).map(::attachment)
            val receipt = intake.feedback(text as String, email as? String ?: "", images).get()
            mapOf("id" to receipt.id, "isKept" to receipt.isKept)
        }
        "flush" -> mapOf("left" to intake.flush(args[0] as Long).get())
        "stats" -> print(intake.stats())
        "optOut" -> intake.optOut().get()
        "optIn" -> intake.optIn().get()
        else -> throw IllegalArgumentException("no such method: $method")
    }
}

@Suppress("UNCHECKED_CAST")
private fun init(given: Map<String, Any?>) {
    fun text(name: String) = given[name] as? String
    fun number(name: String) = given[name] as? Long
    val options = IntakeOptions()
    options.deviceUuid = text("deviceUuid")
    options.userId = text("userId")
    (given["device"] as? Map<String, Any?>)?.let { options.device = it }
    number("flushIntervalMs")?.let { options.flushIntervalMs = it }
    number("batchEntriesMax")?.let { options.batchEntriesMax = it.toInt() }
    number("storageBytesMax")?.let { options.storageBytesMax = it }
    number("storageEventsMax")?.let { options.storageEventsMax = it.toInt() }
    (given["retryMs"] as? Map<*, *>)?.let {
        options.retryMsMin = it["min"] as Long
        options.retryMsMax = it["max"] as Long
    }
    ShiftedTime.aheadMs = number("aheadMs") ?: 0
    client =
        createJavaIntake(
            text("url")!!,
            text("apiKey")!!,
            text("bundleIdentifier")!!,
            File(text("storage")!!),
            options,
            ShiftedTime,
        )
    // Waits until the client has taken over the records of earlier runs: `stored` resolves after
    // that.
    client!!.stored().get()
}

private fun attachment(sent: Any?): Attachment {
    val fields = sent as Map<*, *>
    val data = java.util.Base64.getDecoder().decode(fields["base64"] as String)
    return Attachment(data, fields["name"] as String, fields["type"] as String)
}

private fun print(stats: Stats) =
    mapOf(
        "pending" to mapOf("logs" to stats.pendingLogs, "feedback" to stats.pendingFeedback),
        "stopped" to stats.stopped,
        "lastError" to stats.lastError?.code,
        "dropped" to stats.dropped,
        "storageBytes" to stats.storageBytes,
        "isOptedOut" to stats.isOptedOut,
        "clockOffsetMs" to stats.clockOffsetMs,
    )
