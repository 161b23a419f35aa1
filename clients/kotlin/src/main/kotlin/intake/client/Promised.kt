package intake.client

import java.util.concurrent.CountDownLatch
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/**
 * A result that the threads of the client will set. It cannot fail or be cancelled. After its
 * timeout, or after `giveUp`, it gets the result of `otherwise`. (`CompletableFuture` needs Android
 * 7.)
 *
 * @param timeoutMs milliseconds from the creation on; `get` does not wait longer
 */
internal class Promised<Result>(timeoutMs: Long, private val otherwise: () -> Result) :
    Future<Result> {
    private val deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs)
    private val done = CountDownLatch(1)
    private var result: Result? = null

    /** Called once, by the thread that sets the result. */
    var then: () -> Unit = {}

    fun complete(value: Result) {
        synchronized(done) {
            if (done.count == 0L) return
            result = value
            done.countDown()
        }
        then()
    }

    fun giveUp() = complete(otherwise())

    private fun left() = deadline - System.nanoTime()

    override fun isDone(): Boolean = done.count == 0L || left() <= 0

    @Suppress("UNCHECKED_CAST")
    override fun get(): Result {
        if (!done.await(left(), TimeUnit.NANOSECONDS)) giveUp()
        return result as Result
    }

    override fun get(timeout: Long, unit: TimeUnit): Result {
        val nanos = unit.toNanos(timeout)
        if (nanos < left() && !done.await(nanos, TimeUnit.NANOSECONDS)) throw TimeoutException()
        return get()
    }

    override fun cancel(mayInterruptIfRunning: Boolean) = false

    override fun isCancelled() = false
}
