import Foundation

/// An event that is recorded but not stored yet.
struct RecordedEvent: Sendable {
  /// The event as JSON, without its closing brace.
  let line: Line
  /// Empty if there is no user.
  let user: String
  let era: Era
}

/// The part of the client that any thread may call. It makes events, and keeps them in memory until
/// the worker takes them to store them. It neither does I/O nor waits for I/O.
final class Recorder: Sendable {
  struct Recorded {
    let id: String
    /// Whether no other event waits to be stored. If so, the caller must call the worker's `store`.
    let isFirst: Bool
  }

  struct Taken {
    let events: [RecordedEvent]
    /// Whether events older than these were dropped after the previous call of `take`.
    let isAfterGap: Bool
  }

  private struct State {
    var clock: Clock
    var uuids = Uuids()
    var droppedNames = DroppedNames()
    var user: String
    var isOptedOut = false
    var isShut = false
    var events: [RecordedEvent] = []
    var bytes = 0
    var hasGap = false
  }

  let drops: Drops
  private let state: Locked<State>
  private let beforeSend: (@Sendable (LogEvent) -> LogEvent?)?
  private let eventsMax: Int
  private let bytesMax: Int

  init(_ options: IntakeOptions, time: TimeSource) {
    drops = Drops(onDrop: options.onDrop)
    state = Locked(State(clock: Clock(time), user: validUser(options.userId)))
    beforeSend = options.beforeSend
    eventsMax = max(options.storageEventsMax, 1)
    bytesMax = options.storageBytesMax
  }

  func log(_ event: String, _ params: [String: Any]) -> Recorded? {
    if state.withLock({ $0.isOptedOut || $0.isShut }) { return nil }
    var logged = LogEvent(event: event, params: params)
    if let beforeSend {
      guard let changed = beforeSend(logged) else { return nil }
      logged = changed
    }
    let isName = !logged.event.isEmpty && logged.event.utf16.count <= Limits.identifier
    guard isName, let text = Json.print(logged.params) else {
      drops.add("invalid_event")
      return nil
    }
    if text.count > Limits.paramsBytes {
      drops.add("too_large")
      return nil
    }
    return leavesOut(logged.event) ? nil : record(logged.event, params: text)
  }

  private func leavesOut(_ event: String) -> Bool {
    state.withLock { state -> Bool in
      let now = state.clock.now()
      return state.droppedNames.leavesOut(event, at: now)
    }
  }

  /// Learns from the results of events whether a rule of the operator drops their names.
  ///
  /// - Parameter results: the events, each with whether it was dropped
  func learn(_ results: [(line: Line, isDropped: Bool)]) {
    let hasDropped = results.contains { $0.isDropped }
    if !hasDropped && state.withLock({ $0.droppedNames.isEmpty }) { return }
    for (line, isDropped) in results {
      guard let event = Json.parseObject(Data(line))["event"] as? String else { continue }
      state.withLock { state in
        let now = state.clock.now()
        state.droppedNames.learn(event, isDropped: isDropped, at: now)
      }
    }
  }

  /// Keeps an event, unless the user has opted out or the client is shut down.
  ///
  /// - Parameter params: as JSON
  func record(_ event: String, params: [UInt8]) -> Recorded? {
    let (recorded, lost) = state.withLock { state -> (Recorded?, Int) in
      if state.isOptedOut || state.isShut { return (nil, 0) }
      let now = state.clock.now()
      let era = state.clock.era
      let id = state.uuids.next(at: now)
      let deviceMs = era.offset == 0 ? nil : now - era.offset
      let line = printLine(id: id, event: event, params: params, deviceMs: deviceMs)
      state.events.append(RecordedEvent(line: line, user: state.user, era: era))
      state.bytes += line.count
      let isFirst = state.events.count == 1
      return (Recorded(id: id, isFirst: isFirst), makeRoom(&state))
    }
    drops.add("queue_full", lost)
    return recorded
  }

  /// Drops the oldest events if storage is so slow that too many are in memory. Returns how many
  /// were dropped.
  private func makeRoom(_ state: inout State) -> Int {
    var lost = 0
    while state.events.count > eventsMax || state.bytes > bytesMax {
      let count = max(state.events.count / Limits.segmentsMin, 1)
      for event in state.events.prefix(count) { state.bytes -= event.line.count }
      state.events.removeFirst(count)
      state.hasGap = true
      lost += count
    }
    return lost
  }

  func take() -> Taken {
    state.withLock { state in
      defer {
        state.events = []
        state.bytes = 0
        state.hasGap = false
      }
      return Taken(events: state.events, isAfterGap: state.hasGap)
    }
  }

  /// The number of events that are not stored yet.
  var count: Int { state.withLock { $0.events.count } }

  func newId() -> String {
    state.withLock { $0.uuids.next(at: $0.clock.now()) }
  }

  /// Makes the id of a feedback. Returns the id, its time in milliseconds since 1970, and the user.
  func newFeedback() -> (id: String, ms: Int, user: String) {
    state.withLock {
      let now = $0.clock.now()
      return ($0.uuids.next(at: now), Int(now), $0.user)
    }
  }

  func withClock<Result>(_ use: (inout Clock) -> Result) -> Result {
    state.withLock { use(&$0.clock) }
  }

  var user: String {
    get { state.withLock { $0.user } }
    set { state.withLock { $0.user = newValue } }
  }

  /// Whether the user has opted out. Setting this to true removes all events. While it is true, no
  /// events are kept.
  var isOptedOut: Bool {
    get { state.withLock { $0.isOptedOut } }
    set {
      state.withLock {
        $0.isOptedOut = newValue
        if newValue {
          $0.events = []
          $0.bytes = 0
        }
      }
    }
  }

  var isShut: Bool {
    get { state.withLock { $0.isShut } }
    set { state.withLock { $0.isShut = newValue } }
  }
}

func validUser(_ userId: String?) -> String {
  let user = userId ?? ""
  if user.utf16.count <= Limits.identifier { return user }
  return String(decoding: user.utf16.prefix(Limits.identifier), as: UTF16.self)
}
