import java.io.File
import java.time.OffsetDateTime
import java.util.UUID
import org.openapitools.client.apis.IntakeApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.Device
import org.openapitools.client.models.Feedback
import org.openapitools.client.models.FeedbackPayload
import org.openapitools.client.models.LogBatchSubmission
import org.openapitools.client.models.LogEntryResult
import org.openapitools.client.models.LogEvent
import org.openapitools.client.models.LogSubmission

private val device = Device(
    os = "Android",
    batteryLevel = 81.5,
    isEmulator = false,
    supportedAbis = listOf("arm64-v8a"),
    versionCode = 4_200_000_000,
)
private val deviceUuid = UUID.fromString("bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10")

/** Makes the calls of gateway/test/openapi/four-calls.ts and prints the results as JSON. */
fun main(args: Array<String>) {
    val (url, unlistedUrl, apiKey, image) = args
    ApiClient.apiKey["x-api-key"] = apiKey
    val params = mapOf(
        "screen" to "home",
        "items" to 3,
        "ratio" to 0.5,
        "nested" to mapOf("list" to listOf(1, "a", true)),
    )
    val log = IntakeApi(url).createLog(
        LogSubmission("com.example.app", device, deviceUuid, "user-1", LogEvent("screen_view", params)),
    )
    val feedback = IntakeApi(url).createFeedback(
        payload = FeedbackPayload(
            "com.example.app", device, deviceUuid, "user-1", Feedback("It broke.", "user@example.com"),
        ),
        attachments = listOf(File(image)),
    )
    val attachments = feedback.attachments.joinToString { """{"status":"${it.status}","bytes":${it.bytes}}""" }
    println(
        """
        {
          "log": { "id": "${log.id}" },
          "batch": ${sendBatch(url)},
          "unlisted": ${sendBatch(unlistedUrl)},
          "feedback": { "id": "${feedback.id}", "attachments": [$attachments] },
          "refusal": ${refusal(url)}
        }
        """.trimIndent(),
    )
}

private fun sendBatch(url: String): String {
    val logs = listOf(
        LogEvent("first", timestamp = OffsetDateTime.parse("2026-11-21T07:30:00.250+01:00")),
        LogEvent(""),
    )
    val batch = LogBatchSubmission("com.example.app", device, deviceUuid, "user-1", logs)
    return IntakeApi(url).createLogBatch(batch).results.joinToString(prefix = "[", postfix = "]", transform = ::print)
}

private fun print(result: LogEntryResult): String =
    if (result.status == "accepted") """{"status":"accepted","id":"${result.id}"}"""
    else """{"status":"${result.status}","code":"${result.code}"}"""

/** Sends an event that the gateway must refuse. Returns the status of the response. */
private fun refusal(url: String): Int {
    val noDevice = UUID.fromString("00000000-0000-0000-0000-000000000000")
    val event = LogSubmission("", device, noDevice, "user-1", LogEvent("a"))
    return try {
        IntakeApi(url).createLog(event)
        201
    } catch (refused: ClientException) {
        refused.statusCode
    }
}
