package intake.client.android

import android.app.Activity
import android.app.Application
import android.content.Context
import android.content.Intent
import android.content.IntentFilter
import android.content.pm.PackageInfo
import android.net.ConnectivityManager
import android.net.Network
import android.net.Uri
import android.os.BatteryManager
import android.os.Build
import android.os.Bundle
import android.os.SystemClock
import intake.client.Attachment
import intake.client.FileStorage
import intake.client.Intake
import intake.client.IntakeOptions
import intake.client.TimeSource
import intake.client.createIntake
import intake.client.printIso
import java.io.File
import java.io.FileNotFoundException

/**
 * A client for an Android app. Create it in `Application.onCreate`. It uses no files on the thread
 * of its caller. It sends when the app goes to the background or returns to the foreground, and
 * when the network is available again.
 *
 * @param url the address of the gateway, such as `https://intake.example.com`, to which the client
 *   appends `/api`. If the address has a path, such as `https://www.example.com/i`, the client uses
 *   this path instead of `/api`
 */
fun Intake(
    context: Context,
    url: String,
    apiKey: String,
    configure: IntakeOptions.() -> Unit = {},
): Intake {
    val app = context.applicationContext as? Application ?: context
    val options = IntakeOptions().apply(configure)
    // This directory is never in a backup. Otherwise a new device to which a backup is restored
    // would have the UUID of the old device.
    val storage = FileStorage { File(app.noBackupFilesDir, "intake") }
    val intake =
        createIntake(url, apiKey, app.packageName, options, storage, BootTime) { readDevice(app) }
    val stop = watchActivities(app as? Application, intake)
    val disconnect = watchNetwork(app, intake)
    intake.onEnd = {
        stop()
        disconnect()
    }
    return intake
}

/** Returns an attachment: an image of this or another app, read on a thread of the client. */
fun Attachment(context: Context, uri: Uri): Attachment {
    val resolver = context.applicationContext.contentResolver
    return Attachment(uri.lastPathSegment ?: "image") {
        val stream = resolver.openInputStream(uri) ?: throw FileNotFoundException(uri.toString())
        stream.use { it.readBytes() }
    }
}

/** The clocks of Android. The monotonic clock also counts while the device sleeps. */
private object BootTime : TimeSource {
    override fun now() = System.currentTimeMillis()

    override fun monotonic() = SystemClock.elapsedRealtime()
}

/** Sends when the last activity has stopped, and when the first one starts. */
private fun watchActivities(app: Application?, intake: Intake): () -> Unit {
    var visible = 0
    val callbacks =
        object : Application.ActivityLifecycleCallbacks {
            override fun onActivityStarted(activity: Activity) {
                if (visible++ == 0) intake.wake()
            }

            override fun onActivityStopped(activity: Activity) {
                // Prevents a negative count: if the client was created late, it has not counted the
                // activities that had already started.
                visible = maxOf(visible - 1, 0)
                if (visible == 0) intake.flush()
            }

            override fun onActivityCreated(activity: Activity, state: Bundle?) = Unit

            override fun onActivityResumed(activity: Activity) = Unit

            override fun onActivityPaused(activity: Activity) = Unit

            override fun onActivitySaveInstanceState(activity: Activity, state: Bundle) = Unit

            override fun onActivityDestroyed(activity: Activity) = Unit
        }
    app?.registerActivityLifecycleCallbacks(callbacks)
    return { app?.unregisterActivityLifecycleCallbacks(callbacks) }
}

/**
 * Ends the pauses after failed requests when a network becomes available. Needs Android 7 and the
 * permission `ACCESS_NETWORK_STATE`; if either is missing, the pauses last their full time.
 */
@NewerApi
private fun watchNetwork(context: Context, intake: Intake): () -> Unit {
    if (Build.VERSION.SDK_INT < 24) return {}
    val manager =
        context.getSystemService(Context.CONNECTIVITY_SERVICE) as? ConnectivityManager ?: return {}
    val callback =
        object : ConnectivityManager.NetworkCallback() {
            override fun onAvailable(network: Network) = intake.wake()
        }
    try {
        manager.registerDefaultNetworkCallback(callback)
    } catch (_: RuntimeException) {
        // The permission is missing, or the app has too many callbacks.
        return {}
    }
    return { manager.unregisterNetworkCallback(callback) }
}

/**
 * The documented properties of the device. Properties that the device does not report are left out.
 */
@NewerApi
internal fun readDevice(context: Context): Map<String, Any?> {
    val app = context.packageManager.getPackageInfo(context.packageName, 0)
    val battery = context.registerReceiver(null, IntentFilter(Intent.ACTION_BATTERY_CHANGED))
    val patch = if (Build.VERSION.SDK_INT >= 23) Build.VERSION.SECURITY_PATCH else null
    return mapOf(
        "os" to "Android",
        "device_brand" to Build.BRAND,
        "device_model" to Build.MODEL,
        "android_version" to Build.VERSION.RELEASE,
        "battery_level" to battery?.let(::levelOf),
        "battery_state" to battery?.let(::stateOf),
        "build_board" to Build.BOARD,
        "build_bootloader" to Build.BOOTLOADER,
        "build_fingerprint" to Build.FINGERPRINT,
        "build_hardware" to Build.HARDWARE,
        "build_host" to Build.HOST,
        "build_security_patch" to patch?.takeIf { Regex("\\d{4}-\\d\\d-\\d\\d").matches(it) },
        "build_tags" to Build.TAGS,
        "build_time" to printTime(Build.TIME),
        "build_type" to Build.TYPE,
        "build_user" to Build.USER,
        "build_version_codename" to Build.VERSION.CODENAME,
        "build_version_incremental" to Build.VERSION.INCREMENTAL,
        "bundle_name" to context.applicationInfo.loadLabel(context.packageManager).toString(),
        "device" to Build.DEVICE,
        "first_install_time" to printTime(app.firstInstallTime),
        "is_emulator" to isEmulator(),
        "last_update_time" to printTime(app.lastUpdateTime),
        "manufacturer" to Build.MANUFACTURER,
        "product" to Build.PRODUCT,
        "sdk_version" to Build.VERSION.SDK_INT,
        "supported_abis" to Build.SUPPORTED_ABIS.asList(),
        "version_code" to versionCodeOf(app),
        "version_name" to app.versionName,
    )
}

private fun levelOf(battery: Intent): Double? {
    val level = battery.getIntExtra(BatteryManager.EXTRA_LEVEL, -1)
    val scale = battery.getIntExtra(BatteryManager.EXTRA_SCALE, -1)
    return if (level < 0 || scale <= 0) null else level * 100.0 / scale
}

/** The state of the battery, in the words that all clients of Intake use. */
private fun stateOf(battery: Intent): String? =
    when (battery.getIntExtra(BatteryManager.EXTRA_STATUS, -1)) {
        BatteryManager.BATTERY_STATUS_CHARGING -> "charging"
        BatteryManager.BATTERY_STATUS_FULL -> "full"
        BatteryManager.BATTERY_STATUS_DISCHARGING,
        BatteryManager.BATTERY_STATUS_NOT_CHARGING -> "unplugged"
        else -> null
    }

@NewerApi
@Suppress("DEPRECATION")
private fun versionCodeOf(app: PackageInfo): Long =
    if (Build.VERSION.SDK_INT >= 28) app.longVersionCode else app.versionCode.toLong()

private fun isEmulator(): Boolean =
    Build.HARDWARE in setOf("goldfish", "ranchu", "cutf_cvm") ||
        Build.FINGERPRINT.startsWith("generic") ||
        Build.FINGERPRINT.contains("emulator") ||
        Build.PRODUCT.startsWith("sdk_")

private fun printTime(ms: Long): String? = if (ms > 0) printIso(ms) else null

/** Marks functions that check the release of Android before they use newer APIs. */
@Retention(AnnotationRetention.BINARY) internal annotation class NewerApi
