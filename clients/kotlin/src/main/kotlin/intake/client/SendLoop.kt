package intake.client

import java.util.concurrent.Future
import kotlin.random.Random

/**
 * What waits to be sent: a segment, or a feedback.
 *
 * @property failures how many attempts were refused, perhaps because of what the records contain.
 *   What an earlier run may have attempted begins with one
 */
internal open class Waiting(var failures: Int = 0) {
    /** While this is true, it is not sent. */
    var isResting = false
}

/**
 * What is sent next. What was refused gives way to what was not, so that it never holds it up for
 * longer than one pause.
 */
internal fun <T : Waiting> nextOf(all: List<T>): T? =
    all.filter { !it.isResting }.minByOrNull { it.failures }

/**
 * The result of one request. If no property is set, the next request is sent at once.
 *
 * @property retryAfterMs set if the records have no final result. The loop pauses for this time; if
 *   it is 0, the loop chooses a time
 * @property stop the reason if nothing more is to be sent; otherwise null
 * @property refused what was refused, to be sent once more after a rest
 */
internal class Sent(
    val retryAfterMs: Long? = null,
    val stop: String? = null,
    val refused: Waiting? = null,
) {
    val isSettled
        get() = retryAfterMs == null && stop == null
}

/**
 * Sends one request after another. After a failure it pauses; the pauses double and have a random
 * part, so that many devices do not send at the same moment after an outage.
 *
 * @param send sends the oldest records; returns null if none can be sent
 * @param onPause called whenever the loop ends or pauses
 */
internal class SendLoop(
    private val core: Core,
    private val schedule: (ms: Long, task: () -> Unit) -> Future<*>?,
    private val send: () -> Sent?,
    private val onPause: (stop: String?) -> Unit,
) {
    private val time = core.ports.time
    private val retryMsMin = core.options.retryMsMin
    private val retryMsMax = core.options.retryMsMax
    private var failures = 0
    private var isRunning = false
    private var isWoken = false
    private var isClosed = false
    private var isOrdered = false
    private var timer: Future<*>? = null
    private val rests = ArrayList<Future<*>>()

    /** When the pause ends, in the time of the monotonic clock. */
    private var notBefore = Long.MIN_VALUE

    /**
     * Sends until no record waits.
     *
     * @param isUrgent whether to end a pause after a failure. A pause that the server asked for is
     *   never ended early
     */
    fun wake(isUrgent: Boolean = false) {
        synchronized(core.memory) {
            isWoken = true
            if (isRunning || isClosed) return
            val ms = if (notBefore == Long.MIN_VALUE) 0 else notBefore - time.monotonic()
            if (ms > 0 && (isOrdered || !isUrgent)) return arm(ms)
            timer?.cancel(false)
            isRunning = true
        }
        core.execute(::run)
    }

    private fun run() {
        var sent: Sent?
        do {
            val isOver = synchronized(core.memory) { isClosed.also { isWoken = false } }
            sent = if (isOver) null else sendOne()
        } while (goesOn(sent))
        onPause(sent?.stop)
    }

    private fun sendOne(): Sent? =
        try {
            send()
        } catch (_: Throwable) {
            // If storage fails or memory is short, the loop pauses as after a network failure, so
            // that the records are kept and sent later.
            Sent(retryAfterMs = 0)
        }

    private fun goesOn(sent: Sent?): Boolean =
        synchronized(core.memory) {
            if (sent != null && sent.isSettled) failures = 0
            val isMore = if (sent == null) isWoken else sent.isSettled
            if (isMore && !isClosed) return true
            isRunning = false
            sent?.refused?.let(::rest)
            sent?.retryAfterMs?.let(::pause)
            return false
        }

    private fun rest(refused: Waiting) {
        if (++refused.failures < FEW_ATTEMPTS || isClosed) return
        refused.isResting = true
        rests.removeAll { it.isDone }
        val rest =
            schedule(refused.failures * REST_MS) {
                synchronized(core.memory) { refused.isResting = false }
                wake()
            }
        if (rest != null) rests.add(rest)
    }

    private fun pause(retryAfterMs: Long) {
        failures++
        val reach = minOf(retryMsMax, retryMsMin shl minOf(failures, 30))
        isOrdered = retryAfterMs > 0
        arm(
            if (isOrdered)
                (minOf(retryAfterMs, RETRY_AFTER_MS_MAX) * (1 + Random.nextDouble() / 2)).toLong()
            else retryMsMin + (Random.nextDouble() * maxOf(0, reach - retryMsMin)).toLong()
        )
    }

    private fun arm(ms: Long) {
        timer?.cancel(false)
        notBefore = time.monotonic() + ms
        if (!isClosed) timer = schedule(ms) { wake() }
    }

    fun isRunning(): Boolean = synchronized(core.memory) { isRunning }

    fun close() =
        synchronized(core.memory) {
            isClosed = true
            timer?.cancel(false)
            for (rest in rests) rest.cancel(false)
        }
}
