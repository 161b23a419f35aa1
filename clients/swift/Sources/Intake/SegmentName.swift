import Foundation

/// The state of a segment. `open`: events may still be added. `closed`: complete and never sent.
/// `attempted`: a request with it may have reached the server. The numbers are the same in all
/// clients of Intake.
enum SegmentState: Int {
  case open = 0
  case closed = 2
  case attempted = 3
}

/// The content of the name of a segment's file. A rename changes the state of a whole segment at
/// once.
struct SegmentName: Equatable {
  /// Begins with a UUIDv7, so that segments sort by the time of their creation.
  var key: String
  /// How often events of the segment got new ids. If several stored segments have the same key,
  /// only the one with the highest generation (and then the highest state) counts.
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
  /// Parses the name of a segment's file.
  ///
  /// - Returns: nil for any other name
  init?(parsing text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 7, let generation = Int(parts[1]),
      let state = Int(parts[2]).flatMap(SegmentState.init(rawValue:)),
      let count = Int(parts[4]), let bytes = Int(parts[5]), let shiftMs = Int(parts[6])
    else { return nil }
    self.init(
      key: parts[0], generation: generation, state: state, run: parts[3], count: count,
      bytes: bytes, shiftMs: shiftMs)
  }
}
