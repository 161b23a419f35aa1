package intake.client

import java.io.IOException
import kotlin.concurrent.withLock

/** What to do with the records of a failed request. */
internal enum class Decision {
    /** Send the same request again later. */
    RETRY,

    /**
     * Send the same request again later, and others first: the refusal may concern what the records
     * contain. See [Waiting].
     */
    FEW,

    /** The request is too large. Send its records in smaller requests. */
    SPLIT,

    /**
     * Keep all records and send nothing more, because every request fails until someone changes a
     * setting.
     */
    STOP,

    /** Drop the records, because they will never be accepted. */
    DROP,
}

/**
 * The result of an attempt.
 *
 * @property body the body of a successful response; otherwise null
 * @property code the error code in the response. Without such a code: `http_` and the status, or
 *   `http_0` if there was no response
 * @property isDefinite whether it is certain that nothing was stored
 * @property retryAfterMs the pause that the server asked for; 0 if it asked for none
 */
internal class Attempted(
    val body: String?,
    val decision: Decision,
    val code: String,
    val isDefinite: Boolean,
    val retryAfterMs: Long,
)

private val noAnswer = Answer(0, "")

/**
 * Sends a request, and evaluates what the responses for log events and for feedback have in common.
 * A response that arrives after the end of the client is ignored, so that the records are kept
 * unchanged.
 */
internal fun attemptRequest(core: Core, request: OutgoingRequest): Attempted {
    val time = core.ports.time
    val began = time.monotonic()
    var failure: IOException? = null
    val arrived =
        try {
            core.ports.transport(request)
        } catch (error: IOException) {
            failure = error
            noAnswer
        }
    val hasEnded = core.io.withLock { core.hasEnded }
    val answer = if (hasEnded) noAnswer else arrived
    val tookMs = time.monotonic() - began
    val problem = Json.parseObject(answer.body)
    val code = (problem["code"] as? String)?.ifEmpty { null }
    val isSuccess = answer.status == 201 || answer.status == 207
    // Whether Intake sent the response. A response of a proxy does not show the server's clock.
    val isOfIntake =
        if (isSuccess) problem["id"] is String || problem["results"] is List<*> else code != null
    // `Date` is rounded down to seconds. On average this cuts off half a second, which is added.
    val serverMs =
        parseIso(problem["server_time"] as? String) ?: parseHttpDate(answer.date)?.plus(500)
    val now =
        synchronized(core.memory) {
            if (serverMs != null && isOfIntake && tookMs < ROUND_TRIP_MS_MAX)
                core.clock.observe(serverMs, tookMs)
            core.clock.now()
        }
    if (!isSuccess || !isOfIntake)
        synchronized(core.memory) {
            core.lastError =
                SendError(
                    time = printIso(now),
                    status = answer.status,
                    code = code ?: "http_${answer.status}",
                    message = failure?.message ?: problem["detail"] as? String,
                )
        }
    // The same records can be accepted without the property that the server has refused.
    val isNews = !isSuccess && core.refuse(answer.body)
    val retryAfterMs = readRetryAfter(answer.retryAfter, now)
    val decision =
        synchronized(core.memory) {
            when {
                isNews || hasEnded -> Decision.RETRY
                // After a success, what the request contains may be why there is no response.
                answer.status == 0 && core.refusals == 0 -> Decision.FEW
                else -> decide(answer.status, code, retryAfterMs)
            }.also {
                if (isSuccess && isOfIntake || it == Decision.SPLIT || it == Decision.DROP)
                    core.refusals = 0
                else if (it == Decision.FEW) core.refusals++
            }
        }
    return Attempted(
        body = answer.body.takeIf { isSuccess },
        decision = decision,
        code = code ?: "http_${answer.status}",
        isDefinite = isDefinite(answer.status, code),
        retryAfterMs = retryAfterMs,
    )
}

/** Reads `Retry-After`, which is a number of seconds or a date. */
private fun readRetryAfter(text: String?, now: Long): Long {
    val seconds = text?.trim()?.toDoubleOrNull() ?: 0.0
    if (seconds > 0) return (seconds * 1000).toLong()
    return maxOf(0, (parseHttpDate(text) ?: 0) - now)
}

/**
 * Decides what to do after a failed request. A 4xx about the records is final, even if this release
 * does not know its code. A 4xx about the URL or the API key (one of `settingStatuses`) stops
 * sending if the response has a code and no `Retry-After`. A response without a code comes from a
 * proxy, which may refuse what the records contain with any status, such as 200 with a page. A later
 * request may pass the proxy and reach the gateway, so the records are kept.
 *
 * @param code the error code in the response; null if there was no response, or if the response is
 *   not Intake's
 */
internal fun decide(status: Int, code: String?, retryAfterMs: Long): Decision =
    when {
        status == 413 -> Decision.SPLIT
        status == 0 || status > 500 || status == 429 -> Decision.RETRY
        status < 400 || status == 500 || status in retryStatuses || code == null -> Decision.FEW
        status !in settingStatuses -> Decision.DROP
        retryAfterMs == 0L -> Decision.STOP
        else -> Decision.RETRY
    }

/** Whether the response shows that nothing of the request was stored. */
internal fun isDefinite(status: Int, code: String?): Boolean =
    code != null && (status < 500 || status == 503) && code !in uncertainCodes
