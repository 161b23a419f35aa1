package intake.client

import java.io.File

/**
 * A client for a plain JVM. It does I/O only on its own threads. When the process ends because of
 * `System.exit`, an uncaught error or SIGTERM, the client stores what is in memory.
 *
 * @param url the address of the gateway, such as `https://intake.example.com`, to which the client
 *   appends `/api`. If the address has a path, such as `https://www.example.com/i`, the client uses
 *   this path instead of `/api`
 * @param storage a directory for the records that wait; only one process at a time should use it.
 *   Default: `.intake/java/<bundle identifier>` in the home directory
 */
fun Intake(
    url: String,
    apiKey: String,
    bundleIdentifier: String,
    storage: File = defaultDirectory(bundleIdentifier),
    configure: IntakeOptions.() -> Unit = {},
): Intake {
    val options = IntakeOptions().apply(configure)
    val intake = createJavaIntake(url, apiKey, bundleIdentifier, storage, options, SystemTime)
    val hook = Thread(intake::saveNow)
    Runtime.getRuntime().addShutdownHook(hook)
    intake.onEnd = {
        try {
            Runtime.getRuntime().removeShutdownHook(hook)
        } catch (_: IllegalStateException) {
            // The hook cannot be removed, because the process is already ending.
        }
    }
    return intake
}

private fun defaultDirectory(bundleIdentifier: String) =
    File(
        System.getProperty("user.home"),
        ".intake/java/${bundleIdentifier.replace(Regex("[^\\w.-]"), "_")}",
    )

/** @param time the clocks, which tests replace */
internal fun createJavaIntake(
    url: String,
    apiKey: String,
    bundleIdentifier: String,
    storage: File,
    options: IntakeOptions,
    time: TimeSource,
): Intake =
    createIntake(
        url,
        apiKey,
        bundleIdentifier,
        options,
        FileStorage { storage },
        time,
        ::readJavaDevice,
    )

internal fun createIntake(
    url: String,
    apiKey: String,
    bundleIdentifier: String,
    options: IntakeOptions,
    storage: Storage,
    time: TimeSource,
    device: () -> Map<String, Any?>,
): Intake {
    require(url != "" && apiKey != "") { "Intake needs a url and an apiKey" }
    val worker = Worker()
    val transport = HttpTransport(url, apiKey, worker::schedule)
    return Intake(bundleIdentifier, options, worker, Ports(storage, transport, time, device))
}

/** The clocks of a JVM. The monotonic clock stops while the machine sleeps. */
private object SystemTime : TimeSource {
    override fun now() = System.currentTimeMillis()

    override fun monotonic() = System.nanoTime() / 1_000_000
}
