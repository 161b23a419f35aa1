import Foundation

/// A batch of events: what is stored as one, is sent as one, and is deleted as one.
final class Segment {
  /// `name` is what its file is called, which may be behind it.
  var entry: SegmentName
  var name: String
  /// An attempt may have stored events: their ids must not change.
  var mayBeStored: Bool
  /// It is being sent.
  var isBusy = false
  /// Attempts that got 500; after three it is left until the next start.
  var failures = 0

  init(_ entry: SegmentName, mayBeStored: Bool? = nil) {
    self.entry = entry
    name = entry.text
    self.mayBeStored = mayBeStored ?? (entry.state == .attempted)
  }
}

/// What is in the file of a segment. The first line says where its events come from, the second is what
/// every request says of its sender; the others are the events.
struct StoredSegment {
  struct Origin: Codable {
    var era: Era
    /// The run whose monotonic clock `era` refers to.
    var run: String
  }

  var origin: Origin
  /// As JSON.
  var sender: [UInt8]
  var lines: [Line]

  /// The first two lines.
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
  /// A line that was not written completely, because the process ended, was never reported as stored;
  /// it is left out.
  ///
  /// - Returns: nil if it is damaged
  init?(parsing data: Data) {
    let parts = data.split(separator: newline, omittingEmptySubsequences: false)
    guard parts.count > 2, let origin = try? JSONDecoder().decode(Origin.self, from: parts[0]),
      isWhole(parts[1], start: "{")
    else { return nil }
    self.origin = origin
    sender = Array(parts[1])
    // What follows the last newline is nothing, or incomplete.
    lines = parts.dropFirst(2).dropLast().filter { isWhole($0, start: lineStart) }.map(Array.init)
  }
}

let newline = UInt8(ascii: "\n")

/// After a failure of the power, parts of a file can be zeros, but what is written is never wrong.
private func isWhole(_ text: Data, start: String) -> Bool {
  text.starts(with: start.utf8) && text.last == UInt8(ascii: "}") && text.allSatisfy { $0 >= 0x20 }
}
