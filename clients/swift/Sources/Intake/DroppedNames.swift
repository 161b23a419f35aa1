/// The names of events that a rule of the operator drops. The client does not keep such events.
struct DroppedNames: Sendable {
  /// So many events of a name must be dropped, one after the other, before it is left out.
  private static let droppedMin = 20
  private static let pauseMs: Double = 300_000
  /// Bounds the memory for apps that make names of values.
  private static let namesMax = 100

  private struct Entry: Sendable {
    var count: Int
    var until: Double
  }

  private var names: [String: Entry] = [:]

  var isEmpty: Bool { names.isEmpty }

  /// Whether to leave out an event with this name. Once in five minutes it is false for such a
  /// name: that event shows whether the rule still applies.
  mutating func leavesOut(_ event: String, at now: Double) -> Bool {
    guard let entry = names[event], entry.count >= DroppedNames.droppedMin else { return false }
    let left = entry.until - now
    // If the clock was set back, more time seems to be left than the pause is long.
    if left > 0 && left <= DroppedNames.pauseMs { return true }
    names[event] = Entry(count: entry.count, until: now + DroppedNames.pauseMs)
    return false
  }

  /// Learns from the result of an event.
  mutating func learn(_ event: String, isDropped: Bool, at now: Double) {
    if !isDropped {
      names[event] = nil
    } else if let entry = names[event] {
      names[event] = Entry(count: entry.count + 1, until: now + DroppedNames.pauseMs)
    } else if names.count < DroppedNames.namesMax {
      names[event] = Entry(count: 1, until: now)
    }
  }
}
