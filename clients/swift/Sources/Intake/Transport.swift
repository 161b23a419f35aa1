import Foundation

struct OutgoingRequest: Sendable {
  /// The path below the base URL that `prefixOf` returns, such as `/log/batch`.
  let path: String
  let contentType: String
  let body: Data
  /// The timeout of the whole request, in seconds.
  let timeout: TimeInterval
  var headers: [String: String] = [:]
}

/// The response of a server or a proxy.
struct Answer: Sendable {
  let status: Int
  let body: Data
  /// The header fields `Date` and `Retry-After`.
  let date: String?
  let retryAfter: String?
}

protocol Transport: Sendable {
  /// Sends a request.
  ///
  /// - Returns: nil if there was no complete response
  func send(_ request: OutgoingRequest) async -> Answer?
  func close()
}

struct Attempted {
  /// The body of a successful response; otherwise nil.
  let body: [String: Any]?
  var decision: Decision
  /// The error code in the response. If it has none: `http_` and the status, or `http_0` if there
  /// was no response.
  let code: String
  /// Whether it is certain that nothing was stored.
  let isDefinite: Bool
  /// The pause that the server asked for; 0 if it asked for none.
  let retryAfterMs: Double
  /// Why the request failed; nil if Intake has accepted it.
  let failure: SendError?
}

extension Attempted {
  /// Evaluates what the responses for log events and for feedback have in common. Learns the
  /// server's clock from the response.
  init(_ answer: Answer?, tookMs: Double, recorder: Recorder) {
    let status = answer?.status ?? 0
    let body = answer.map { Json.parseObject($0.body) } ?? [:]
    let problem = (body["code"] as? String).flatMap { $0.isEmpty ? nil : $0 }
    // `Date` is rounded down to seconds. Adding half a second corrects the average error.
    let serverMs =
      (body["server_time"] as? String).flatMap(parseTime)
      ?? answer?.date.flatMap(parseHttpDate).map { $0 + 500 }
    let isSuccess = status == 201 || status == 207
    // A response of a proxy does not show the server's clock.
    let isOfIntake =
      isSuccess ? body["id"] is String || body["results"] is [Any] : problem != nil
    if let serverMs, isOfIntake, tookMs < Limits.roundTripMs {
      recorder.withClock { $0.observe(serverMs: serverMs, roundTripMs: tookMs) }
    }
    let now = recorder.withClock { $0.now() }
    let reason = problem ?? "http_\(status)"
    self.body = isSuccess ? body : nil
    retryAfterMs = Self.pause(answer?.retryAfter, now: now)
    decision = Decision(status: status, code: problem, retryAfterMs: retryAfterMs)
    code = reason
    isDefinite = nothingWasStored(status: status, code: problem)
    failure =
      isSuccess && isOfIntake
      ? nil
      : SendError(
        time: printTime(Int(now)), status: status, code: reason,
        message: body["detail"] as? String)
  }

  /// Reads `Retry-After`, which is a number of seconds or a date.
  private static func pause(_ retryAfter: String?, now: Double) -> Double {
    guard let retryAfter else { return 0 }
    if let seconds = Double(retryAfter) { return seconds.isFinite ? max(seconds * 1000, 0) : 0 }
    return max((parseHttpDate(retryAfter) ?? 0) - now, 0)
  }
}
