import Foundation

/// When the next request of one kind may go out: one after the other, with pauses that double after
/// failures, and a random part of them, so that the devices of a fleet do not return together.
final class Lane {
  var isRunning = false
  var isClosed = false
  /// Ends the pause.
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

  /// - Parameter retryAfterMs: what the server asked for; 0: nothing
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

  /// What is left of the pause, in milliseconds.
  ///
  /// - Parameter isUrgent: nothing is left of a pause that the server did not ask for
  func left(isUrgent: Bool) -> Double {
    isUrgent && !isOrdered ? 0 : max(notBefore - monotonic(), 0)
  }
}
