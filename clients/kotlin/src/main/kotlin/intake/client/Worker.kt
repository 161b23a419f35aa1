package intake.client

import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit

/**
 * The number of threads. Three threads can send log events, send feedback, and write to storage or
 * run timers, all at the same time.
 */
private const val THREADS = 3

/**
 * The threads of a client. The threads end when they are idle, and do not keep the process alive.
 */
internal class Worker {
    private val pool =
        ScheduledThreadPoolExecutor(THREADS) { Thread(it, "intake").apply { isDaemon = true } }

    init {
        pool.setKeepAliveTime(10, TimeUnit.SECONDS)
        pool.allowCoreThreadTimeOut(true)
        pool.removeOnCancelPolicy = true
    }

    /** Runs a task, unless `shutdown` was called before. */
    fun execute(task: () -> Unit) {
        schedule(0, task)
    }

    /** Runs a task after `ms` milliseconds. Returns null if `shutdown` was called before. */
    fun schedule(ms: Long, task: () -> Unit): Future<*>? =
        try {
            pool.schedule(Runnable(task), ms, TimeUnit.MILLISECONDS)
        } catch (_: RejectedExecutionException) {
            null
        }

    /**
     * Accepts no more tasks. Earlier tasks still run, such as the timers of requests in progress.
     */
    fun shutdown() = pool.shutdown()
}
