import Foundation

/// `closed`: never sent. `attempted`: a request may have reached the server. The numbers are those of
/// the other clients of Intake.
enum SegmentState: Int {
  case open = 0
  case closed = 2
  case attempted = 3
}

/// What the name of the file of a segment says. A rename changes the state of a whole segment at once.
struct SegmentName: Equatable {
  /// Ascends with the time at which it was begun.
  var key: String
  /// Of segments with the same key, the highest generation and state replace the others.
  var generation = 0
  var state = SegmentState.closed
  /// Of the client that wrote it.
  var run: String
  /// Events and bytes; 0 while it is open.
  var count = 0
  var bytes = 0
  /// What every id of an attempted segment is shifted by, in milliseconds.
  var shiftMs = 0

  var text: String {
    "\(key).\(generation).\(state.rawValue).\(run).\(count).\(bytes).\(shiftMs)"
  }
}

extension SegmentName {
  /// - Returns: nil if it is not the name of a segment
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
