package intake.client

import kotlin.math.abs

/**
 * A period in which neither the device's clock jumped nor its correction changed. So the times in
 * all ids of an era are wrong by the same amount. Each era is an object of its own, so eras are
 * compared with `===`.
 */
internal class Era(
    /** The device's clock minus the monotonic clock, in milliseconds. */
    val drift: Long,
    /** The milliseconds that are added to the device's clock when an id is made. */
    val offset: Long,
    /** Whether the server's clock was known. If so, the ids of this era are never changed. */
    val isTrusted: Boolean,
)

/**
 * Smaller differences from the server's clock are not corrected, because the transfer time of a
 * response can cause them.
 */
private const val TOLERATED_MS = 60_000L

/** Smaller jumps of the device's clock are ignored, because they occur even if nobody sets it. */
private const val JUMP_MS = 2000L
private const val DAY_MS = 86_400_000L

/**
 * The device's clock, corrected if it differs from the server's by more than a minute.
 *
 * If the device's clock jumps, either someone set it, or the device slept. (Java's monotonic clock
 * stops during sleep.) If it jumps backwards, or forwards by more than a day, the client assumes
 * that someone set it. Only one thread may use a clock at a time.
 */
internal class Clock(private val time: TimeSource) {
    private var era = Era(time.now() - time.monotonic(), 0, false)

    /** The device's time, corrected if the server's clock is known, in milliseconds since 1970. */
    fun now(): Long {
        val wall = time.now()
        val drift = wall - time.monotonic()
        val jump = drift - era.drift
        if (abs(jump) > JUMP_MS) {
            // If someone set the clock, real time did not jump. So the offset is reduced by the
            // jump, and the times in ids remain right.
            val isKnown = era.isTrusted && wasSet(jump)
            era = Era(drift, if (isKnown) unlessTolerated(era.offset - jump) else era.offset, false)
        }
        return wall + era.offset
    }

    /** The current era, which is a new one if the device's clock has jumped. */
    fun era(): Era {
        now()
        return era
    }

    /**
     * Learns the server's clock from a response.
     *
     * @param serverMs the server's time when it made the response
     * @param roundTripMs how long the request and its response took
     */
    fun observe(serverMs: Long, roundTripMs: Long) {
        val offset = serverMs + roundTripMs / 2 - (now() - era.offset)
        if (era.isTrusted && abs(offset - era.offset) <= TOLERATED_MS) return
        era = Era(era.drift, unlessTolerated(offset), true)
    }

    /**
     * The milliseconds to add to the times of ids that were made in `past` and never sent.
     *
     * @param isOfThisRun whether `past` is from this run. Monotonic clocks of different runs cannot
     *   be compared
     */
    fun shiftFor(past: Era, isOfThisRun: Boolean): Long {
        if (past.isTrusted || !era.isTrusted) return 0
        val byClock = era.offset - past.offset
        val jump = era.drift - past.drift
        return unlessTolerated(if (isOfThisRun && wasSet(jump)) byClock + jump else byClock)
    }

    private fun wasSet(jump: Long) = jump < -JUMP_MS || jump > DAY_MS

    private fun unlessTolerated(offset: Long) = if (abs(offset) > TOLERATED_MS) offset else 0
}
