import Foundation

/// A batch of events that are stored, sent and deleted together.
final class Segment: Waiting {
  /// What the file's name should say, including the state of the segment. `name` is the name that
  /// the file has now. It may still say an older state.
  var entry: SegmentName
  var name: String
  /// Whether an attempt may have stored events. If so, their ids must not change.
  var mayBeStored: Bool
  /// Whether the segment is being sent.
  var isBusy = false

  init(_ entry: SegmentName, mayBeStored: Bool? = nil) {
    self.entry = entry
    name = entry.text
    self.mayBeStored = mayBeStored ?? (entry.state == .attempted)
    super.init(failures: entry.state == .attempted ? 1 : 0)
  }
}

/// The content of a segment's file. The first line is the origin of the events, the second line is
/// their sender, and each further line is an event.
struct StoredSegment {
  struct Origin: Codable {
    var era: Era
    /// The run whose monotonic clock `era` refers to.
    var run: String
  }

  var origin: Origin
  /// The fields of the sender as JSON: the second line of the file.
  var sender: [UInt8]
  var lines: [Line]

  /// Prints the first two lines of a segment's file: the origin and the sender.
  static func head(_ origin: Origin, sender: [UInt8]) -> [UInt8] {
    let first = (try? JSONEncoder().encode(origin)) ?? Data()
    return first + [newline] + sender + [newline]
  }

  func print() -> [UInt8] {
    var text = Self.head(origin, sender: sender)
    for line in lines {
      text += line
      text.append(newline)
    }
    return text
  }
}

extension StoredSegment {
  /// Parses a stored segment. An incomplete last line is left out: the process ended while writing
  /// it, and never reported it as stored.
  ///
  /// - Returns: nil if the data is damaged
  init?(parsing data: Data) {
    let parts = data.split(separator: newline, omittingEmptySubsequences: false)
    guard parts.count > 2, let origin = try? JSONDecoder().decode(Origin.self, from: parts[0]),
      isWhole(parts[1], start: "{")
    else { return nil }
    self.origin = origin
    sender = Array(parts[1])
    // Drops the part after the last newline, which is empty or an incomplete line.
    lines = parts.dropFirst(2).dropLast().filter(isLine).map(Array.init)
  }
}

let newline = UInt8(ascii: "\n")

private func isLine(_ text: Data) -> Bool {
  isWhole(text, start: lineStart) && isUuid(String(decoding: idOf(text), as: UTF8.self))
}

/// Whether a line is complete. After a power failure, parts of a file can be zeros instead of what
/// was written, but never other bytes.
private func isWhole(_ text: Data, start: String) -> Bool {
  text.starts(with: start.utf8) && text.last == UInt8(ascii: "}") && text.allSatisfy { $0 >= 0x20 }
}
