package intake.client

import kotlin.math.abs

/**
 * A period in which the device's clock ran evenly. The ids of all events of one era are wrong by
 * the same amount of time. Eras are compared by identity, because every change creates another
 * object.
 */
internal class Era(
    /** The device's clock minus the monotonic clock. */
    val drift: Long,
    /** The milliseconds that are added to the device's clock when an id is made. */
    val offset: Long,
    /** Whether the server's clock was known. If so, the ids of this era are never changed. */
    val isTrusted: Boolean,
)

/** Differences up to this are not corrected: the transmission of a response can cause them. */
private const val TOLERATED_MS = 60_000L

/** The clocks of a device may differ by this much although none was set. */
private const val JUMP_MS = 2000L
private const val DAY_MS = 86_400_000L

/**
 * The device's clock, corrected by the server's if it is wrong by more than a minute.
 *
 * If the device's clock jumps, it was set, or the device slept while the monotonic clock stopped,
 * as Java's does. A jump backwards, or of more than a day, always means that the clock was set.
 * Only one thread may use it at a time.
 */
internal class Clock(private val time: TimeSource) {
    private var era = Era(time.now() - time.monotonic(), 0, false)

    /** The time, as far as it is known, in milliseconds since 1970. */
    fun now(): Long {
        val wall = time.now()
        val drift = wall - time.monotonic()
        val jump = drift - era.drift
        if (abs(jump) > JUMP_MS) {
            // If only the clock was set, real time ran on evenly: subtract the jump, so that ids
            // stay right.
            val isKnown = era.isTrusted && wasSet(jump)
            era = Era(drift, if (isKnown) unlessTolerated(era.offset - jump) else era.offset, false)
        }
        return wall + era.offset
    }

    /** The era of the time that `now` returns. */
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
     * @param isOfThisRun whether `past` was made by this run, so that its monotonic clock still
     * counts
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
