import Foundation

/// The result of one request.
enum Sent {
  /// The records have a final result. The next request is sent at once.
  case settled
  /// The records have no final result. Pause for this many milliseconds. If the number is 0, `Lane`,
  /// which decides when the next request is sent, chooses the length of the pause.
  case pause(Double)
  /// The same. The record was refused, perhaps because of what it contains, and may be sent again
  /// after a rest.
  case refused(Waiting, Double)
  /// Send nothing more, for this reason.
  case stop(String)
}

/// What waits to be sent: a segment, or a feedback.
class Waiting {
  /// How many attempts were refused. What an earlier run may have attempted begins with one, and so
  /// gives way to what is new.
  var failures: Int
  /// While this is true, it is not sent.
  var isResting = false

  init(failures: Int) {
    self.failures = failures
  }
}

extension Array where Element: Waiting {
  /// What is sent next. What was refused gives way to what was not, so that it never holds it up for
  /// longer than one pause.
  var next: Element? {
    filter { !$0.isResting }.min { $0.failures < $1.failures }
  }
}

/// A batch that is being sent.
struct LogAttempt {
  let segment: Segment
  let stored: StoredSegment
  /// Whether an earlier attempt may have stored events.
  let wasOpen: Bool
}

/// Chooses the log events to send, and handles the responses to them.
final class LogSender {
  private let queue: LogQueue
  private let recorder: Recorder
  private let run: String

  init(queue: LogQueue, recorder: Recorder, run: String) {
    self.queue = queue
    self.recorder = recorder
    self.run = run
  }

  /// Marks the oldest segment as attempted, and returns it with its events. Drops segments whose
  /// events are all too old to send. Throws if the segment cannot be read now.
  ///
  /// - Returns: nil if no segment can be sent
  func begin() throws -> LogAttempt? {
    while let segment = queue.oldest {
      let wasOpen = segment.mayBeStored
      guard let stored = try queue.attempt(segment), let last = stored.lines.last else { continue }
      let newest = timeOfUuid(idOf(last)) + segment.entry.shiftMs
      if Double(newest) < recorder.withClock({ $0.now() }) - Double(Limits.eventAgeMs) {
        recorder.drops.add("expired", stored.lines.count)
        queue.replace(segment)
        continue
      }
      segment.mayBeStored = true
      segment.isBusy = true
      return LogAttempt(segment: segment, stored: stored, wasOpen: wasOpen)
    }
    return nil
  }

  func request(_ attempt: LogAttempt) -> OutgoingRequest {
    let (stored, shiftMs) = (attempt.stored, attempt.segment.entry.shiftMs)
    var body = stored.sender.dropLast() + ",\"logs\":[".utf8
    for (at, line) in stored.lines.enumerated() {
      if at > 0 { body.append(UInt8(ascii: ",")) }
      body += shiftLine(line, by: shiftMs, hasTimestamp: stored.origin.era.offset != 0)
    }
    body += "]}".utf8
    return OutgoingRequest(
      path: "/log/batch", contentType: "application/json", body: Data(body), timeout: 30)
  }

  /// - Parameter refusals: the number of refusals in a row, with this one
  func settle(_ attempt: LogAttempt, _ attempted: Attempted, refusals: Int) -> Sent {
    let (segment, lines) = (attempt.segment, attempt.stored.lines)
    segment.isBusy = false
    if let body = attempted.body {
      // Intake returns one result for each entry. Any other response with the same status is from a
      // proxy.
      guard let results = readResults(body, count: lines.count) else {
        return .pause(attempted.retryAfterMs)
      }
      settleEntries(attempt, results)
      return .settled
    }
    if attempted.isDefinite { segment.mayBeStored = attempt.wasOpen }
    switch attempted.decision {
    case .stop: return .stop(attempted.code)
    case .few:
      // Of events that are refused together, one may be the cause. After many refusals, a single
      // event finds out soonest whether everything is refused.
      let isProbe = refusals > Limits.fewAttempts
      if lines.count > 1 && (isProbe || segment.failures + 1 >= Limits.fewAttempts) {
        split(attempt, at: isProbe ? 1 : lines.count / 2)
      }
      return .refused(segment, attempted.retryAfterMs)
    case .retry: return .pause(attempted.retryAfterMs)
    case .split where lines.count > 1: split(attempt, at: lines.count / 2)
    case .split, .drop: settleEntries(attempt, lines.map { _ in .rejected(attempted.code) })
    }
    return .settled
  }

  private enum EntryResult {
    case accepted
    case dropped
    case rejected(String)
  }

  /// Reads the results of a batch.
  ///
  /// - Returns: nil unless there is a result for each entry
  private func readResults(_ body: [String: Any], count: Int) -> [EntryResult]? {
    guard let results = body["results"] as? [Any], results.count == count else { return nil }
    var read: [EntryResult] = []
    for case let result as [String: Any] in results {
      switch result["status"] as? String {
      case "accepted": read.append(.accepted)
      // `dropped` is final: a rule of the operator drops such events.
      case "dropped": read.append(.dropped)
      case nil: return nil
      // A status that this release does not know counts as rejected.
      default: read.append(.rejected(result["code"] as? String ?? "unknown"))
      }
    }
    return read.count == count ? read : nil
  }

  /// Removes the entries whose results are final. Events that were rejected because the device's
  /// clock was wrong get new ids.
  private func settleEntries(_ attempt: LogAttempt, _ results: [EntryResult]) {
    let (entry, stored) = (attempt.segment.entry, attempt.stored)
    var taken: [(line: Line, isDropped: Bool)] = []
    for (line, result) in zip(stored.lines, results) {
      switch result {
      case .accepted: taken.append((line: line, isDropped: false))
      case .dropped: taken.append((line: line, isDropped: true))
      case .rejected: break
      }
    }
    recorder.learn(taken)
    let isOfThisRun = stored.origin.run == run
    let shiftMs = recorder.withClock {
      _ = $0.now()
      return $0.shift(for: stored.origin.era, isOfThisRun: isOfThisRun)
    }
    let mayShift =
      !attempt.wasOpen && entry.generation < Limits.generations && shiftMs != entry.shiftMs
    var again = stored
    again.lines = []
    for (line, result) in zip(stored.lines, results) {
      guard case .rejected(let code) = result else { continue }
      let isOutOfRange = code == "id_time_out_of_range"
      if isOutOfRange && mayShift {
        again.lines.append(line)
      } else {
        recorder.drops.add(isOutOfRange ? "expired" : code)
      }
    }
    let next = SegmentName(key: entry.key, generation: entry.generation + 1, run: run)
    queue.replace(attempt.segment, by: again.lines.isEmpty ? [] : [(next, again)])
  }

  /// Divides a segment before the line `middle`. The first part is sent next.
  private func split(_ attempt: LogAttempt, at middle: Int) {
    let (entry, stored) = (attempt.segment.entry, attempt.stored)
    let halves = [stored.lines[..<middle], stored.lines[middle...]].enumerated().map { at, lines in
      var half = stored
      half.lines = Array(lines)
      var name = SegmentName(key: entry.key + String(at), state: .attempted, run: run)
      name.shiftMs = entry.shiftMs
      return (name, half)
    }
    queue.replace(attempt.segment, by: halves)?.failures = 0
  }
}
