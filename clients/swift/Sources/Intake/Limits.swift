/// Limits of the gateway's interface, and limits of the client.
enum Limits {
  /// Maximum size of a segment, in bytes. It arrives at 2,000 bytes a second, not compressed, before
  /// the gateway ends the request: the body may fall 40 KB behind 4,096 bytes a second.
  static let segmentBytes = 30_000
  static let batchEntries = 500
  /// The size of a segment is at most the size of the storage divided by this number. To make room,
  /// full storage drops a whole segment, so a segment must be a small part of the storage.
  static let segmentsMin = 10
  /// The maximum length of an event's name and of a user's id, in UTF-16 units.
  static let identifier = 255
  /// The maximum size of an event's params as JSON, in bytes.
  static let paramsBytes = 100_000
  /// The maximum age of an event that is sent: a day less than the gateway accepts, so that the
  /// event does not become too old on the way.
  static let eventAgeMs = 29 * 86_400_000
  /// How often the device's UUID is read at the start if it cannot be read, once in a second.
  static let startAttempts = 8
  static let feedback = 20
  static let attachments = 4
  /// After so many refusals, a batch is divided, and a single record rests after each: for `rest`
  /// seconds, times the number of its refusals.
  static let fewAttempts = 3
  static let rest = 30.0
  /// The maximum number of times that an event gets a new id.
  static let generations = 3
  static let retryAfterMs = 86_400_000.0
  /// If a response takes longer, the client does not learn the server's clock from it, because the
  /// time in a slow response is too uncertain.
  static let roundTripMs = 8000.0
  /// The maximum size of a response, in bytes. All responses of Intake are smaller.
  static let answerBytes = 4_000_000
}
