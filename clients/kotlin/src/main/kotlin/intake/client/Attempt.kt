package intake.client

import java.io.IOException

/** What follows from an answer. */
internal enum class Decision {
    /** The same again, later. */
    RETRY,

    /** The same, at most three times. */
    FEW,

    /** It is too large. */
    SPLIT,

    /** Nothing will be accepted until someone changes a setting; everything is kept. */
    STOP,

    /** It will never be accepted. */
    DROP,
}

/**
 * What became of an attempt.
 *
 * @property body of a success; else null
 * @property code of the problem, or `http_` and the status; 0: no answer
 * @property isDefinite nothing was stored
 * @property retryAfterMs 0: the server did not say
 */
internal class Attempted(
    val body: String?,
    val decision: Decision,
    val code: String,
    val isDefinite: Boolean,
    val retryAfterMs: Long,
)

/** Sends a request and reads from its answer what concerns every request. */
internal fun attemptRequest(core: Core, request: OutgoingRequest): Attempted {
    val time = core.ports.time
    val began = time.monotonic()
    val answer =
        try {
            core.ports.transport(request)
        } catch (_: IOException) {
            Answer(0, "")
        }
    val tookMs = time.monotonic() - began
    val problem = Json.parseObject(answer.body)
    val code = (problem["code"] as? String)?.ifEmpty { null }
    // The header has whole seconds; on average half a second has passed.
    val serverMs =
        parseIso(problem["server_time"] as? String) ?: parseHttpDate(answer.date)?.plus(500)
    val now =
        synchronized(core.memory) {
            if (serverMs != null && tookMs < ROUND_TRIP_MS_MAX) core.clock.observe(serverMs, tookMs)
            core.clock.now()
        }
    return Attempted(
        body = answer.body.takeIf { answer.status == 201 || answer.status == 207 },
        decision = decide(answer.status, code),
        code = code ?: if (answer.status == 401) "unauthorized" else "http_${answer.status}",
        isDefinite = isDefinite(answer.status, code),
        retryAfterMs = readRetryAfter(answer.retryAfter, now),
    )
}

/** A number of seconds, or a date. */
private fun readRetryAfter(text: String?, now: Long): Long {
    val seconds = text?.trim()?.toDoubleOrNull() ?: 0.0
    if (seconds > 0) return (seconds * 1000).toLong()
    return maxOf(0, (parseHttpDate(text) ?: 0) - now)
}

/**
 * A 4xx is final, also if this release does not know it. Without a code, one about the address or
 * the key is a proxy's: it may lead to the gateway again later.
 *
 * @param code of the problem; null: the answer is not Intake's, or there was none
 */
internal fun decide(status: Int, code: String?): Decision =
    when {
        status == 413 -> Decision.SPLIT
        status == 401 -> Decision.STOP
        status == 500 -> Decision.FEW
        status < 400 || status > 500 || status in retryStatuses -> Decision.RETRY
        status !in settingStatuses -> Decision.DROP
        code != null -> Decision.STOP
        else -> Decision.RETRY
    }

/** Whether the answer says that nothing of the request was stored. */
internal fun isDefinite(status: Int, code: String?): Boolean =
    code != null && (status < 500 || status == 503) && code !in uncertainCodes
