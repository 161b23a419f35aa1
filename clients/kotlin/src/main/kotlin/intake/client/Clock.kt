package intake.client

import kotlin.math.abs

/**
 * A stretch in which the clock of the device ran evenly. Events of one era have ids that are wrong
 * by the same time. Compared by identity: it is another object after every change.
 */
internal class Era(
    /** The clock of the device less the monotonic clock. */
    val drift: Long,
    /** What was added to the clock of the device for ids. */
    val offset: Long,
    /** Whether the server's clock was known. Ids of such an era are never changed. */
    val isTrusted: Boolean,
)

/** Differences up to this are left: a time on the way is not a wrong clock. */
private const val TOLERATED_MS = 60_000L

/** The clocks of a device differ by this without being set. */
private const val JUMP_MS = 2000L
private const val DAY_MS = 86_400_000L

/**
 * The clock of the device, corrected by the server's if it is wrong by more than a minute.
 *
 * If the clock of the device jumps, it was set, or the device slept while the monotonic clock stood
 * still, as that of Java does. A jump backwards is never a sleep; one of more than a day is taken
 * for a correction. One thread at a time may use it.
 */
internal class Clock(private val time: TimeSource) {
    private var era = Era(time.now() - time.monotonic(), 0, false)

    /** The time, as far as it is known, in milliseconds since 1970. */
    fun now(): Long {
        val wall = time.now()
        val drift = wall - time.monotonic()
        val jump = drift - era.drift
        if (abs(jump) > JUMP_MS) {
            // A known offset ends when the clock is set: the time went on evenly.
            val isKnown = era.isTrusted && wasSet(jump)
            era = Era(drift, if (isKnown) unlessTolerated(era.offset - jump) else era.offset, false)
        }
        return wall + era.offset
    }

    /** The era that `now` is in. */
    fun era(): Era {
        now()
        return era
    }

    /**
     * Learns the server's clock from an answer.
     *
     * @param serverMs what it showed when the answer was made
     * @param roundTripMs how long the answer took
     */
    fun observe(serverMs: Long, roundTripMs: Long) {
        val offset = serverMs + roundTripMs / 2 - (now() - era.offset)
        if (era.isTrusted && abs(offset - era.offset) <= TOLERATED_MS) return
        era = Era(era.drift, unlessTolerated(offset), true)
    }

    /**
     * What to add to the times of ids that were made in `past` and never sent, in milliseconds.
     *
     * @param isOfThisRun its monotonic clock is the one of now
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
