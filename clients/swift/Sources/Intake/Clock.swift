/// A period in which neither the device's clock jumped nor its correction changed. So the times in
/// all ids of an era are wrong by the same amount.
struct Era: Equatable, Codable, Sendable {
  /// The device's clock minus the monotonic clock, in milliseconds.
  var drift: Double
  /// The milliseconds that are added to the device's clock when an id is made.
  var offset: Double
  /// Whether the server's clock was known. If so, the ids of this era are never changed.
  var isTrusted: Bool
}

/// The device's clock, corrected if it differs from the server's by more than a minute.
///
/// If the device's clock jumps, either someone set it, or the device slept and its monotonic clock
/// stopped meanwhile. If it jumps backwards, or forwards by more than a day, the client assumes
/// that someone set it.
struct Clock {
  /// Smaller differences from the server's clock are not corrected, because the transfer time of a
  /// response can cause them.
  private static let toleratedMs = 60_000.0
  /// Smaller jumps of the device's clock are ignored, because they occur even if nobody sets it.
  private static let jumpMs = 2000.0
  private static let dayMs = 86_400_000.0
  private let time: TimeSource
  private(set) var era: Era

  init(_ time: TimeSource) {
    self.time = time
    era = Era(drift: time.now() - time.monotonic(), offset: 0, isTrusted: false)
  }

  /// The device's time, corrected if the server's clock is known, in milliseconds since 1970.
  /// Starts a new era if the device's clock has jumped.
  mutating func now() -> Double {
    let wall = time.now()
    let drift = wall - time.monotonic()
    let jump = drift - era.drift
    if abs(jump) > Self.jumpMs {
      // If someone set the clock, real time did not jump. So the offset is reduced by the jump, and
      // the times in ids remain right.
      let isKnown = era.isTrusted && Self.wasSet(jump)
      let offset = isKnown ? Self.unlessTolerated(era.offset - jump) : era.offset
      era = Era(drift: drift, offset: offset, isTrusted: false)
    }
    return wall + era.offset
  }

  /// Learns the server's clock from a response.
  ///
  /// - Parameters:
  /// - serverMs: the server's time when it made the response
  /// - roundTripMs: how long the request and its response took
  mutating func observe(serverMs: Double, roundTripMs: Double) {
    let offset = serverMs + roundTripMs / 2 - (now() - era.offset)
    if era.isTrusted && abs(offset - era.offset) <= Self.toleratedMs { return }
    era = Era(drift: era.drift, offset: Self.unlessTolerated(offset), isTrusted: true)
  }

  /// The milliseconds to add to the times of ids that were made in `past` and never sent.
  ///
  /// - Parameter isOfThisRun: whether `past` is from this run. Monotonic clocks of different runs
  /// cannot be compared
  func shift(for past: Era, isOfThisRun: Bool) -> Int {
    if past.isTrusted || !era.isTrusted { return 0 }
    let byClock = era.offset - past.offset
    let jump = era.drift - past.drift
    let isSet = isOfThisRun && Self.wasSet(jump)
    // The conversion can fail, because an era from a damaged file may have any numbers.
    return Int(exactly: Self.unlessTolerated(isSet ? byClock + jump : byClock).rounded()) ?? 0
  }

  private static func wasSet(_ jump: Double) -> Bool { jump < -jumpMs || jump > dayMs }

  private static func unlessTolerated(_ offset: Double) -> Double {
    abs(offset) > toleratedMs ? offset : 0
  }
}
