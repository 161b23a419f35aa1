package intake.client.android

import android.app.Activity
import android.app.Application
import android.content.Intent
import android.content.pm.PackageInfo
import android.net.Uri
import android.os.BatteryManager
import android.os.Build
import com.sun.net.httpserver.HttpServer
import java.io.ByteArrayInputStream
import java.io.File
import java.net.InetSocketAddress
import java.util.Base64
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Assume.assumeTrue
import org.junit.Before
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.Robolectric
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import org.robolectric.util.ReflectionHelpers.setStaticField

private const val INSTALLED = 1_790_000_000_000L

private val documented =
    """
    os device_brand device_model android_version battery_level battery_state build_board
    build_bootloader build_fingerprint build_hardware build_host build_security_patch build_tags
    build_time build_type build_user build_version_codename build_version_incremental bundle_name
    device first_install_time is_emulator last_update_time manufacturer product sdk_version
    supported_abis version_code version_name
    """
        .trim()
        .split(Regex("\\s+"))

/** A picture of one pixel. */
private val png =
    Base64.getDecoder()
        .decode(
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        )

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [34])
class AndroidIntakeTest {
    private val app: Application = RuntimeEnvironment.getApplication()

    @Before
    fun describeDevice() {
        for ((name, value) in
            mapOf(
                "BRAND" to "google",
                "MODEL" to "Pixel 8",
                "BOARD" to "shiba",
                "BOOTLOADER" to "ripcurrent-14.5",
                "FINGERPRINT" to "google/shiba/shiba:14/UD1A.230803.041/10808477:user/release-keys",
                "HARDWARE" to "shiba",
                "HOST" to "abfarm-01201",
                "TAGS" to "release-keys",
                "TIME" to 1_693_000_000_000L,
                "TYPE" to "user",
                "USER" to "android-build",
                "DEVICE" to "shiba",
                "MANUFACTURER" to "Google",
                "PRODUCT" to "shiba",
                "SUPPORTED_ABIS" to arrayOf("arm64-v8a", "armeabi-v7a"),
            )) setStaticField(Build::class.java, name, value)
        setStaticField(Build.VERSION::class.java, "SECURITY_PATCH", "2026-11-05")
        setStaticField(Build.VERSION::class.java, "INCREMENTAL", "10808477")
        setStaticField(Build.VERSION::class.java, "CODENAME", "REL")
        val battery =
            Intent(Intent.ACTION_BATTERY_CHANGED)
                .putExtra(BatteryManager.EXTRA_LEVEL, 163)
                .putExtra(BatteryManager.EXTRA_SCALE, 200)
                .putExtra(BatteryManager.EXTRA_STATUS, BatteryManager.BATTERY_STATUS_CHARGING)
        @Suppress("DEPRECATION") app.sendStickyBroadcast(battery)
        val installed = shadowOf(app.packageManager).getInternalMutablePackageInfo(app.packageName)
        installed.describe()
    }

    private fun PackageInfo.describe() {
        firstInstallTime = INSTALLED
        lastUpdateTime = INSTALLED + 1
        longVersionCode = 4_200_000_000
        versionName = "1.2.3"
        applicationInfo!!.nonLocalizedLabel = "Shop"
    }

    @Test
    fun `all 29 documented properties of the device are known`() {
        val device = readDevice(app)
        assertEquals(documented.toSet(), device.filterValues { it != null }.keys)
        assertEquals(29, device.size)
        val some =
            listOf(
                "device_model",
                "battery_level",
                "battery_state",
                "build_time",
                "first_install_time",
                "is_emulator",
                "sdk_version",
                "supported_abis",
                "version_code",
            )
        assertEquals(
            listOf(
                "Pixel 8",
                81.5,
                "charging",
                "2023-08-25T21:46:40.000Z",
                "2026-09-21T14:13:20.000Z",
                false,
                34,
                listOf("arm64-v8a", "armeabi-v7a"),
                4_200_000_000,
            ),
            some.map { device[it] },
        )
    }

    /** Makes the device report fewer properties, as some devices do. */
    private fun forgetSome() {
        setStaticField(Build.VERSION::class.java, "SECURITY_PATCH", "")
        setStaticField(Build::class.java, "TIME", -1L)
    }

    @Test
    fun `what a device does not know is left out`() {
        forgetSome()
        val device = readDevice(app).filterValues { it != null }
        assertEquals(documented.toSet() - setOf("build_security_patch", "build_time"), device.keys)
    }

    @Test
    fun `a real gateway accepts all fields, and the odd values of some devices`() {
        val (url, key) = gateway()
        for (name in listOf("all", "odd")) {
            if (name == "odd") forgetSome()
            val intake = Intake(app, url, key) { userId = name }
            val uri = Uri.parse("content://com.example.app/$name.png")
            shadowOf(app.contentResolver).registerInputStream(uri, ByteArrayInputStream(png))
            intake.log("started", mapOf("device" to name))
            intake.feedback("It broke: $name", attachments = listOf(Attachment(app, uri))).get()
            assertEquals(0, intake.flush(60_000).get())
            assertEquals(emptyMap<String, Int>(), intake.stats().dropped)
            intake.shutdown().get()
        }
    }

    private fun gateway(): Pair<String, String> {
        val url = System.getProperty("intake.url") ?: ""
        assumeTrue("there is no gateway", url != "")
        return url to System.getProperty("intake.key")
    }

    private fun start() =
        Intake(app, "http://127.0.0.1:9", "ik_test") { flushIntervalMs = 3_600_000 }

    @Test
    fun `what waits is where no backup copies it, and survives the process`() {
        val first = start()
        first.log("tap")
        first.stored().get()
        assertTrue(File(app.noBackupFilesDir, "intake").list()!!.isNotEmpty())
        val second = start()
        second.stored().get()
        assertEquals(1, second.stats().pendingLogs)
        first.shutdown(0).get()
        second.shutdown(0).get()
    }

    @Test
    fun `events are sent when the last activity goes to the background`() {
        val requests = LinkedBlockingQueue<String>()
        val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
        server.createContext("/") {
            requests.add(it.requestURI.path)
            it.close()
        }
        server.start()
        val intake =
            Intake(app, "http://127.0.0.1:${server.address.port}", "ik_test") {
                flushIntervalMs = 3_600_000
            }
        val activity = Robolectric.buildActivity(Activity::class.java).setup()
        intake.log("tap")
        intake.stored().get()
        assertEquals("it waits for others", 0, requests.size)
        activity.pause().stop()
        assertEquals("/api/log/batch", requests.poll(60, TimeUnit.SECONDS))
        intake.shutdown(0).get()
        server.stop(0)
    }
}
