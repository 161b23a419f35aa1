/// What the interface of the gateway, and the experience with devices, sets.
enum Limits {
  /// The gateway reads at most 256 KiB of a body that it refuses; a larger one could meet a reset
  /// instead of the answer.
  static let segmentBytes = 200_000
  static let batchEntries = 500
  /// A segment never has more of what may wait than this part, because the oldest one goes whole.
  static let segmentsMin = 10
  /// Of names of events and users, in UTF-16.
  static let identifier = 255
  /// Of the params of an event, as JSON.
  static let paramsBytes = segmentBytes / 2
  /// A day less than what the gateway takes: an event should not become too old on its way.
  static let eventAgeMs = 29 * 86_400_000
  static let feedback = 20
  static let attachments = 4
  /// Attempts of a request that gets 500.
  static let fewAttempts = 3
  /// How often an event may get another id.
  static let generations = 3
  static let retryAfterMs = 86_400_000.0
  /// Above this, the time that an answer took says too little about the server's clock.
  static let roundTripMs = 8000.0
  /// A longer answer is none of Intake.
  static let answerBytes = 4_000_000
}
