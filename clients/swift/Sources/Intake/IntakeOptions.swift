import Foundation

/// The options of a client.
public struct IntakeOptions: Sendable {
  /// The address of the gateway, such as `https://intake.example.com`, to which the client appends
  /// `/api`. If the address has a path, such as `https://www.example.com/i`, the client uses this
  /// path instead of `/api`.
  public var url: String
  public var apiKey: String
  /// Identifies the app. Default: the bundle identifier of the main bundle.
  public var bundleIdentifier: String
  /// The UUID that identifies the device. Default: the client makes one and keeps it.
  public var deviceUuid: UUID?
  /// The id of the user. Without one, the device's UUID is sent. `identify` changes the user.
  public var userId: String?
  /// Properties of the device. They replace properties of the same name that the client finds.
  public var device: [String: any Sendable] = [:]
  /// The directory for records that wait. It must not be in a container that an app shares with its
  /// extensions: if an app holds a lock in such a container when it is suspended, iOS ends the app.
  /// Default: `Intake/<bundle identifier>` in Application Support.
  public var directory: URL?
  /// How long an event waits, in seconds, so that later events can be sent in the same request.
  public var flushInterval: TimeInterval = 5
  /// The maximum number of events in a request, 1 to 500.
  public var batchEntriesMax = 500
  /// The maximum size of all log events that wait, in bytes. If there are more, the oldest are
  /// dropped.
  public var storageBytesMax = 4_000_000
  /// The maximum number of log events that wait. If there are more, the oldest are dropped.
  public var storageEventsMax = 5000
  /// The shortest and longest pause before a request is repeated, in seconds.
  public var retry: ClosedRange<TimeInterval> = 1...900
  /// Changes an event before it is kept; nil drops it. `log` waits for this function, so it must be
  /// fast.
  public var beforeSend: (@Sendable (LogEvent) -> LogEvent?)?
  /// Called on any thread whenever the client has dropped records, with the reason and the number
  /// of records.
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

/// A log event as `beforeSend` receives it.
public struct LogEvent {
  public var event: String
  public var params: [String: Any]

  public init(event: String, params: [String: Any] = [:]) {
    self.event = event
    self.params = params
  }
}

/// An image. `name` and `type` are only hints: the gateway detects the type from the bytes.
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
  /// The id of the feedback, which becomes the column `feedback_id`.
  public let id: String
  /// False if the feedback is not kept. `onDrop` then gets the reason, except after `optOut` or
  /// `shutdown`.
  public let isKept: Bool
}

/// Why a request failed.
public struct SendError: Sendable {
  /// When it failed, in ISO 8601.
  public let time: String
  /// The status of the response; 0 if there was none.
  public let status: Int
  /// The error code in the response. If it has none: `http_` and the status, or `http_0` if there
  /// was no response.
  public let code: String
  /// What the server said about it; nil if it said nothing.
  public let message: String?
}

/// The state of the client: how many records wait and how many were dropped.
public struct Stats: Sendable {
  /// Log events that wait to be sent.
  public let pendingLogs: Int
  /// Feedback that waits to be sent.
  public let pendingFeedback: Int
  /// Why nothing more is sent before the next start, such as `unauthorized`; nil if sending
  /// continues.
  public let stopped: String?
  /// The last request that failed; nil if none has failed since the client started.
  public let lastError: SendError?
  /// The number of records that were dropped since the client started, by reason.
  public let dropped: [String: Int]
  /// Size of the log events that wait, in bytes.
  public let storageBytes: Int
  /// Whether `optOut` is in effect.
  public let isOptedOut: Bool
  /// Seconds that are added to the device's clock; 0 if the clock is right or the server's time is
  /// not known.
  public let clockOffset: TimeInterval
}
