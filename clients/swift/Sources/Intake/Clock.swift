/// A stretch in which the clock of the device ran evenly. Events of one era have ids that are wrong
/// by the same time.
struct Era: Equatable, Codable, Sendable {
  /// The clock of the device less the monotonic clock, in milliseconds.
  var drift: Double
  /// What was added to the clock of the device for ids.
  var offset: Double
  /// Whether the server's clock was known. Ids of such an era are never changed.
  var isTrusted: Bool
}

/// The clock of the device, corrected by the server's if it is wrong by more than a minute.
///
/// If the clock of the device jumps, it was set, or the monotonic clock stood still while the device
/// slept. A jump backwards is never a sleep; one of more than a day is taken for a correction.
struct Clock {
  /// Differences up to this are left: a time on the way is not a wrong clock.
  private static let toleratedMs = 60_000.0
  /// The clocks of a device differ by this without being set.
  private static let jumpMs = 2000.0
  private static let dayMs = 86_400_000.0
  private let time: TimeSource
  private(set) var era: Era

  init(_ time: TimeSource) {
    self.time = time
    era = Era(drift: time.now() - time.monotonic(), offset: 0, isTrusted: false)
  }

  /// The time, as far as it is known, in milliseconds since 1970. `era` is the one that it is in.
  mutating func now() -> Double {
    let wall = time.now()
    let drift = wall - time.monotonic()
    let jump = drift - era.drift
    if abs(jump) > Self.jumpMs {
      // A known offset ends when the clock is set: the time went on evenly.
      let isKnown = era.isTrusted && Self.wasSet(jump)
      let offset = isKnown ? Self.unlessTolerated(era.offset - jump) : era.offset
      era = Era(drift: drift, offset: offset, isTrusted: false)
    }
    return wall + era.offset
  }

  /// Learns the server's clock from an answer.
  ///
  /// - Parameters:
  ///   - serverMs: what it showed when the answer was made
  ///   - roundTripMs: how long the answer took
  mutating func observe(serverMs: Double, roundTripMs: Double) {
    let offset = serverMs + roundTripMs / 2 - (now() - era.offset)
    if era.isTrusted && abs(offset - era.offset) <= Self.toleratedMs { return }
    era = Era(drift: era.drift, offset: Self.unlessTolerated(offset), isTrusted: true)
  }

  /// What to add to the times of ids that were made in `past` and never sent, in milliseconds.
  ///
  /// - Parameter isOfThisRun: its monotonic clock is the one of now
  func shift(for past: Era, isOfThisRun: Bool) -> Int {
    if past.isTrusted || !era.isTrusted { return 0 }
    let byClock = era.offset - past.offset
    let jump = era.drift - past.drift
    let isSet = isOfThisRun && Self.wasSet(jump)
    return Int(Self.unlessTolerated(isSet ? byClock + jump : byClock).rounded())
  }

  private static func wasSet(_ jump: Double) -> Bool { jump < -jumpMs || jump > dayMs }

  private static func unlessTolerated(_ offset: Double) -> Double {
    abs(offset) > toleratedMs ? offset : 0
  }
}
