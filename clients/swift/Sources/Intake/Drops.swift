/// Counts the records that the client drops, by reason.
final class Drops: Sendable {
  private struct Counts {
    var total: [String: Int] = [:]
    var unreported: [String: Int] = [:]
    var isChanged = false
  }
  private let counts = Locked(Counts())
  private let onDrop: (@Sendable (String, Int) -> Void)?

  init(onDrop: (@Sendable (String, Int) -> Void)?) {
    self.onDrop = onDrop
  }

  func add(_ reason: String, _ count: Int = 1) {
    if count == 0 { return }
    counts.withLock {
      $0.total[reason, default: 0] += count
      $0.unreported[reason, default: 0] &+= count
      $0.isChanged = true
    }
    onDrop?(reason, count)
  }

  /// The number of records dropped since the client started, by reason.
  var total: [String: Int] { counts.withLock { $0.total } }

  /// Adds records that an earlier run dropped and did not report. Their counts come from a file
  /// that may be damaged, so an addition must not fail if the sum is too large.
  func adopt(_ unreported: [String: Int]) {
    counts.withLock { $0.unreported.merge(unreported, uniquingKeysWith: &+) }
  }

  /// Returns the counts of dropped records that no `intake.dropped` event has reported, by reason;
  /// nil if there are none. After this call they count as reported.
  func takeUnreported() -> [String: Int]? {
    counts.withLock { counts in
      if counts.unreported.isEmpty { return nil }
      counts.isChanged = true
      defer { counts.unreported = [:] }
      return counts.unreported
    }
  }

  /// Returns the counts to store, so that they can be reported after a restart. Returns nil if the
  /// counts have not changed since the last call.
  func takeChanged() -> [String: Int]? {
    counts.withLock {
      if !$0.isChanged { return nil }
      $0.isChanged = false
      return $0.unreported
    }
  }
}
