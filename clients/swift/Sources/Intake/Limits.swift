/// Limits that follow from the gateway's interface, and from experience with devices.
enum Limits {
  /// The gateway reads at most 256 KiB of a body that it refuses. For a larger one a client could
  /// get a reset instead of the response.
  static let segmentBytes = 200_000
  static let batchEntries = 500
  /// Full storage holds at least this many segments. It makes room by dropping the oldest segment as
  /// a whole, so no segment may be a large part of it.
  static let segmentsMin = 10
  /// The maximum length of the names of events and users, in UTF-16 units.
  static let identifier = 255
  /// The maximum size of an event's params, as JSON.
  static let paramsBytes = segmentBytes / 2
  /// A day less than the gateway accepts, so that an event does not become too old while it is
  /// sent.
  static let eventAgeMs = 29 * 86_400_000
  static let feedback = 20
  static let attachments = 4
  /// How often a request that gets 500 is attempted.
  static let fewAttempts = 3
  /// How often an event may get another id.
  static let generations = 3
  static let retryAfterMs = 86_400_000.0
  /// If a response took longer than this, it says too little about the server's clock.
  static let roundTripMs = 8000.0
  /// The maximum size of a response, in bytes. Intake sends no longer one.
  static let answerBytes = 4_000_000
}
