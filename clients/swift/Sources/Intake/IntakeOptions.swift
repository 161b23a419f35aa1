import Foundation

/// What a client needs to know.
public struct IntakeOptions: Sendable {
  /// The address of the gateway, such as `https://intake.example.com`, or the prefix that replaces
  /// its `/api`, such as `https://www.example.com/i`.
  public var url: String
  public var apiKey: String
  /// Default: that of the main bundle.
  public var bundleIdentifier: String
  /// Identifies the device. Without it the client makes one and keeps it.
  public var deviceUuid: UUID?
  /// Identifies the user. Without it, the device's UUID is sent. `identify` changes it.
  public var userId: String?
  /// Properties of the device, in addition to those that the client finds; these win.
  public var device: [String: any Sendable] = [:]
  /// Directory for what waits. Not in a container that an app shares with its extensions: iOS ends
  /// an app that is suspended while it holds a lock there. Default: `Intake/` and the bundle
  /// identifier, in Application Support.
  public var directory: URL?
  /// How long an event waits for others of the same request, in seconds.
  public var flushInterval: TimeInterval = 5
  /// Events in a request, 1 to 500.
  public var batchEntriesMax = 500
  /// Size of all log events that wait, in bytes. Beyond it the oldest go.
  public var storageBytesMax = 4_000_000
  /// Number of log events that wait. Beyond it the oldest go.
  public var storageEventsMax = 5000
  /// The shortest and longest pause before a repeat, in seconds.
  public var retry: ClosedRange<TimeInterval> = 1...900
  /// Changes an event before it is kept; nil drops it. `log` calls it on the thread of its caller.
  public var beforeSend: (@Sendable (LogEvent) -> LogEvent?)?
  /// Called with the reason and the number of records whenever the client gives up records, on any
  /// thread.
  public var onDrop: (@Sendable (_ reason: String, _ count: Int) -> Void)?

  public init(
    url: String,
    apiKey: String,
    bundleIdentifier: String = Bundle.main.bundleIdentifier ?? ""
  ) {
    self.url = url
    self.apiKey = apiKey
    self.bundleIdentifier = bundleIdentifier
  }
}

/// A log event, as `beforeSend` gets it.
public struct LogEvent {
  public var event: String
  public var params: [String: Any]

  public init(event: String, params: [String: Any] = [:]) {
    self.event = event
    self.params = params
  }
}

/// An image; `name` and `type` are only hints, the gateway looks at the bytes.
public struct Attachment: Sendable {
  public var data: Data
  public var name: String
  public var type: String

  public init(data: Data, name: String = "image", type: String = "application/octet-stream") {
    self.data = data
    self.name = name
    self.type = type
  }
}

public struct FeedbackReceipt: Sendable {
  /// The id of the feedback; the column `feedback_id`.
  public let id: String
  /// False: it was refused at once, and `onDrop` got the reason.
  public let isKept: Bool
}

/// What waits, and what became of the rest.
public struct Stats: Sendable {
  /// Log events that wait to be sent.
  public let pendingLogs: Int
  /// Feedback that waits to be sent.
  public let pendingFeedback: Int
  /// Why nothing is sent until the next start, such as `unauthorized`; nil: sending goes on.
  public let stopped: String?
  /// Records that were given up since the start, by reason.
  public let dropped: [String: Int]
  /// Size of the log events that wait, in bytes.
  public let storageBytes: Int
  /// Whether `optOut` is in force.
  public let isOptedOut: Bool
  /// What is added to the clock of the device, in seconds. 0: it is right, or not known.
  public let clockOffset: TimeInterval
}
