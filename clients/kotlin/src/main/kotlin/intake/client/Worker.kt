package intake.client

import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit

/** One thread sends log events, one sends feedback, and the third writes and runs timers. */
private const val THREADS = 3

/**
 * The threads of a client. They end when they are not needed, and do not keep the process alive.
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

    /** Tasks of before still run, such as the timers of requests that have not ended. */
    fun shutdown() = pool.shutdown()
}
