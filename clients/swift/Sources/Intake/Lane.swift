import Foundation

/// Decides when the next request may be sent, for log events or for feedback. Requests of a lane
/// are sent one after another. After a failure the lane pauses; the pauses double and have a random
/// part, so that many devices do not send at the same moment after an outage.
final class Lane {
  var isRunning = false
  var isClosed = false
  /// Fires at the end of the pause.
  var timer: Task<Void, Never>?
  private let retryMs: ClosedRange<Double>
  private let monotonic: @Sendable () -> Double
  private var failures = 0
  private var isOrdered = false
  private var notBefore = 0.0

  init(retry: ClosedRange<TimeInterval>, time: TimeSource) {
    retryMs = retry.lowerBound * 1000...retry.upperBound * 1000
    monotonic = time.monotonic
  }

  func succeed() {
    failures = 0
  }

  /// Begins a pause.
  ///
  /// - Parameter retryAfterMs: the pause that the server asked for; 0 if it asked for none
  func pause(_ retryAfterMs: Double) {
    failures += 1
    isOrdered = retryAfterMs > 0
    let (low, high) = (retryMs.lowerBound, retryMs.upperBound)
    let reach = max(min(high, low * pow(2, Double(failures))), low)
    let pauseMs =
      isOrdered
      ? min(retryAfterMs, Limits.retryAfterMs) * Double.random(in: 1...1.5)
      : Double.random(in: low...reach)
    notBefore = monotonic() + pauseMs
  }

  /// The milliseconds that remain of the pause.
  ///
  /// - Parameter isUrgent: whether to ignore a pause that the server did not ask for
  func left(isUrgent: Bool) -> Double {
    isUrgent && !isOrdered ? 0 : max(notBefore - monotonic(), 0)
  }
}
