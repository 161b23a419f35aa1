import Foundation

/// The log events that wait: one open segment of this run, and closed segments, oldest first.
final class LogQueue {
  private(set) var count = 0
  private(set) var bytes = 0
  private let storage: Storage
  private let recorder: Recorder
  private let run: String
  private let entriesMax: Int
  private let segmentBytes: Int
  private let eventsMax: Int
  private let bytesMax: Int
  /// Returns the sender's fields for records of this user, as a JSON object.
  private let senderOf: (_ user: String) -> [UInt8]
  private var segments: [Segment] = []
  private var open: Open?

  private struct Open {
    let segment: Segment
    let user: String
    let era: Era
    /// The number of bytes that may still be added before a request with the segment is full.
    var room: Int
    var isSynced = false
  }

  init(
    _ options: IntakeOptions, storage: Storage, recorder: Recorder, run: String,
    senderOf: @escaping (String) -> [UInt8]
  ) {
    self.storage = storage
    self.recorder = recorder
    self.run = run
    self.senderOf = senderOf
    eventsMax = options.storageEventsMax
    bytesMax = options.storageBytesMax
    let part = { (whole: Int) in max((whole + Limits.segmentsMin - 1) / Limits.segmentsMin, 1) }
    entriesMax = max(min(options.batchEntriesMax, Limits.batchEntries, part(eventsMax)), 1)
    segmentBytes = min(Limits.segmentBytes, part(bytesMax))
  }

  /// Stores events, so that they survive the end of the process.
  func store(_ taken: Recorder.Taken) {
    let events = taken.events
    if events.isEmpty { return }
    // If events in memory were dropped, drops all stored events, too, because they are older.
    if taken.isAfterGap { makeRoom(events: eventsMax, bytes: 0, except: nil) }
    var sequence = storage.takeNumbers(events.count)
    var chunk: [UInt8] = []
    var chunkCount = 0
    for event in events {
      let line = closeLine(event.line, sequence: sequence)
      sequence = sequence.map { $0 + 1 }
      if let open, !hasRoom(open, event, line.count, chunkCount) {
        append(chunk, chunkCount)
        (chunk, chunkCount) = ([], 0)
        close()
      }
      if open == nil { begin(event) }
      open?.room -= line.count + lineRoom
      chunk += line
      chunk.append(newline)
      chunkCount += 1
    }
    append(chunk, chunkCount)
  }

  /// The bytes that are reserved for each line: for a comma, and for the timestamp that an event
  /// gets if its id is shifted.
  private let lineRoom = 50

  private func hasRoom(_ open: Open, _ event: RecordedEvent, _ size: Int, _ more: Int) -> Bool {
    open.segment.entry.count + more < entriesMax && open.room >= size + lineRoom
      && open.era == event.era && open.user == event.user
  }

  private func begin(_ event: RecordedEvent) {
    let entry = SegmentName(key: recorder.newId(), state: .open, run: run)
    let room = segmentBytes - senderOf(event.user).count - lineRoom
    let segment = Segment(entry)
    segment.name = ""
    open = Open(segment: segment, user: event.user, era: event.era, room: room)
  }

  /// Drops the oldest segments to stay within the limits. Then writes the lines to the open
  /// segment.
  private func append(_ lines: [UInt8], _ lineCount: Int) {
    guard let open, lineCount > 0 else { return }
    let segment = open.segment
    let isNew = segment.name.isEmpty
    let text = isNew ? head(of: open) + lines : lines
    makeRoom(events: lineCount, bytes: text.count, except: segment)
    let name = isNew ? nameWhileOpen(segment.entry) : segment.name
    let isThere = try? storage.append(text, to: name, isNew: isNew)
    guard isThere == true else {
      // The new lines begin a new segment. If appending failed, the old segment is closed, and its
      // stored lines are sent later. If the file of the old segment is missing, another client has
      // taken that segment over.
      if isThere == nil { close() } else { forget(segment) }
      let entry = SegmentName(key: recorder.newId(), state: .open, run: run)
      self.open = Open(segment: Segment(entry), user: open.user, era: open.era, room: open.room)
      self.open?.segment.name = ""
      return append(lines, lineCount)
    }
    if isNew {
      segment.name = name
      segments.append(segment)
    }
    self.open?.isSynced = false
    grow(segment, lineCount, text.count)
  }

  private func nameWhileOpen(_ entry: SegmentName) -> String {
    SegmentName(key: entry.key, generation: entry.generation, state: .open, run: run).text
  }

  private func head(of open: Open) -> [UInt8] {
    StoredSegment.head(.init(era: open.era, run: run), sender: senderOf(open.user))
  }

  private func makeRoom(events: Int, bytes more: Int, except kept: Segment?) {
    while count + events > eventsMax || bytes + more > bytesMax {
      guard let victim = segments.first(where: { !$0.isBusy && $0 !== kept }) else { return }
      recorder.drops.add("queue_full", victim.entry.count)
      remove(victim)
    }
  }

  private func grow(_ segment: Segment, _ events: Int, _ size: Int) {
    segment.entry.count += events
    segment.entry.bytes += size
    count += events
    bytes += size
  }

  private func isKnown(_ segment: Segment) -> Bool { segments.contains { $0 === segment } }

  private func forget(_ segment: Segment) {
    if open?.segment === segment { open = nil }
    guard let at = segments.firstIndex(where: { $0 === segment }) else { return }
    segments.remove(at: at)
    count -= segment.entry.count
    bytes -= segment.entry.bytes
  }

  private func remove(_ segment: Segment) {
    forget(segment)
    storage.remove(segment.name)
  }

  /// Makes stored events survive a power failure.
  func sync() {
    guard let open, !open.isSynced, !open.segment.name.isEmpty else { return }
    storage.sync(open.segment.name)
    self.open?.isSynced = true
  }

  /// Closes the open segment, so that it can be sent.
  func close() {
    guard let segment = open?.segment, !segment.name.isEmpty else { return }
    sync()
    open = nil
    segment.entry.state = .closed
    _ = rename(segment)
  }

  /// Renames a segment in storage to match its state.
  ///
  /// - Returns: false if the segment no longer exists
  private func rename(_ segment: Segment) -> Bool {
    segment.entry.run = run
    let name = segment.entry.text
    if name == segment.name { return true }
    switch storage.rename(segment.name, to: name) {
    case .done: segment.name = name
    case .gone:
      forget(segment)
      return false
    // Continues without the rename. Otherwise records would never be sent while storage is broken.
    case .failed: break
    }
    return true
  }

  /// Takes over the segments of ended runs. If several names have the same key, takes only the last
  /// one.
  ///
  /// - Parameter names: in ascending order
  func adopt(_ names: [SegmentName]) {
    var adopted: [Segment] = []
    for (at, entry) in names.enumerated() where entry.run != run {
      if at + 1 < names.count && names[at + 1].key == entry.key {
        storage.remove(entry.text)
      } else {
        adopted.append(Segment(entry))
      }
    }
    for segment in adopted {
      count += segment.entry.count
      bytes += segment.entry.bytes
    }
    segments = adopted + segments
    // A segment that cannot be read now is read again before it is sent.
    for segment in adopted where segment.entry.count == 0 { _ = try? load(segment) }
  }

  /// The closed segment that is sent next.
  var oldest: Segment? {
    segments.filter { $0 !== open?.segment && !$0.isBusy }.next
  }

  /// Reads a segment, and marks it as attempted in a way that survives a power failure. Throws if
  /// the segment cannot be read now.
  ///
  /// - Returns: nil if the segment no longer exists
  func attempt(_ segment: Segment) throws -> StoredSegment? {
    guard let stored = try load(segment) else { return nil }
    if segment.entry.state != .attempted {
      let isOfThisRun = stored.origin.run == run
      segment.entry.shiftMs = recorder.withClock {
        _ = $0.now()
        return $0.shift(for: stored.origin.era, isOfThisRun: isOfThisRun)
      }
      segment.entry.state = .attempted
    }
    guard rename(segment) else { return nil }
    storage.syncNames()
    return stored
  }

  /// Reads a segment and corrects its size. If the segment cannot be read, keeps it and throws.
  ///
  /// - Returns: nil if the segment no longer exists or has no events; the queue then forgets it
  private func load(_ segment: Segment) throws -> StoredSegment? {
    let data = try storage.read(segment.name)
    let stored = data.flatMap(StoredSegment.init(parsing:))
    let lines = stored?.lines.count ?? 0
    // If the file is gone, another client has sent the segment: its events are not damaged.
    if data != nil { recorder.drops.add("damaged", max(segment.entry.count - lines, 0)) }
    grow(segment, lines - segment.entry.count, (data?.count ?? 0) - segment.entry.bytes)
    if lines > 0 { return stored }
    remove(segment)
    return nil
  }

  /// Replaces a segment by `parts`. If there are no parts, only removes the segment.
  ///
  /// - Returns: the first part; nil if there is none, or if the queue has forgotten the segment
  @discardableResult
  func replace(
    _ segment: Segment, by parts: [(entry: SegmentName, stored: StoredSegment)] = []
  ) -> Segment? {
    guard let at = segments.firstIndex(where: { $0 === segment }) else { return nil }
    var added: [Segment] = []
    for (entry, stored) in parts {
      let text = stored.print()
      let part = Segment(entry, mayBeStored: segment.mayBeStored && entry.state == .attempted)
      part.entry.run = run
      part.entry.count = stored.lines.count
      part.entry.bytes = text.count
      part.name = part.entry.text
      _ = try? storage.append(text, to: part.name, isNew: true)
      storage.sync(part.name)
      added.append(part)
      count += part.entry.count
      bytes += part.entry.bytes
    }
    segments.insert(contentsOf: added, at: at)
    remove(segment)
    return added.first
  }

  /// Forgets all segments, and deletes them from storage.
  func clear() {
    while let first = segments.first { remove(first) }
    open = nil
  }
}
