import Foundation

/// The state of a segment. `open`: events may still be added. `closed`: complete and never sent.
/// `attempted`: a request with it may have reached the server. The numbers are the same in all
/// clients of Intake.
enum SegmentState: Int {
  case open = 0
  case closed = 2
  case attempted = 3
}

/// What the name of a segment's file contains. The state is part of the name, so that a rename
/// changes the state of the whole segment at once.
struct SegmentName: Equatable {
  /// A UUIDv7, so that segments sort by the time of their creation. When a segment is split, the
  /// keys of its halves get one more character: 0 or 1.
  var key: String
  /// How many times events of the segment got new ids. If several stored segments have the same
  /// key, only the one with the highest generation (and then the highest state) counts.
  var generation = 0
  var state = SegmentState.closed
  /// The run of the client that wrote the segment.
  var run: String
  /// The number of events, and their size in bytes. In the name of an open segment both are 0.
  var count = 0
  var bytes = 0
  /// The milliseconds by which every id of an attempted segment is shifted.
  var shiftMs = 0

  var text: String {
    "\(key).\(generation).\(state.rawValue).\(run).\(count).\(bytes).\(shiftMs)"
  }
}

extension SegmentName {
  /// The largest shift that a name may contain. Times in UUIDv7 have 48 bits.
  private static let shiftMsMax = 1 << 48
  private static let bytesMax = 1_000_000

  /// Parses the name of a segment's file.
  ///
  /// - Returns: nil for a file of another program. A name with a number that no client writes also
  /// gives nil: with a huge size, the segment would displace real events
  init?(parsing text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 7, let generation = Int(parts[1]),
      let state = Int(parts[2]).flatMap(SegmentState.init(rawValue:)),
      let count = Int(parts[4]), let bytes = Int(parts[5]), let shiftMs = Int(parts[6])
    else { return nil }
    self.init(
      key: parts[0], generation: generation, state: state, run: parts[3], count: count,
      bytes: bytes, shiftMs: shiftMs)
    let (id, halves) = (String(key.prefix(36)), key.dropFirst(36))
    guard self.text == text, isUuid(id), halves.allSatisfy({ $0 == "0" || $0 == "1" }), isUuid(run),
      0...Limits.generations ~= generation, 0...Limits.batchEntries ~= count,
      0...Self.bytesMax ~= bytes, -Self.shiftMsMax...Self.shiftMsMax ~= shiftMs
    else { return nil }
  }
}
