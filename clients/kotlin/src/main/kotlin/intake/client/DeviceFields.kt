package intake.client

/** The properties of the device that log events contain. */
internal fun logDevice(device: Map<String, Any?>): Map<String, Any?> =
    device.filterKeys { it !in feedbackOnly }

/**
 * Leaves out properties whose value is not known, because an absent property is better than a wrong
 * value.
 */
internal fun knownOf(device: Map<String, Any?>): Map<String, Any?> =
    device.filterValues {
        it != null && it != "" && it != "unknown" && (it as? Number)?.toDouble()?.isFinite() != false
    }

/** The properties that Java knows of its machine. Names of hosts and users are not collected. */
internal fun readJavaDevice(): Map<String, Any?> =
    mapOf(
        "os" to System.getProperty("os.name"),
        "os_version" to System.getProperty("os.version"),
        "supported_abis" to listOf(System.getProperty("os.arch")),
        "runtime" to "java",
        "runtime_version" to System.getProperty("java.version"),
    )
