import Foundation

/// A client of Intake. Records that it has stored on the device arrive exactly once, despite lost
/// responses, crashes and days without a network. Create one client when the app starts, and keep
/// it.
///
/// All methods may be called at any time, in any order, on any thread, and none throws. Creating a
/// client does no I/O.
public final class Intake: Sendable {
  private let recorder: Recorder
  private let worker: Worker
  private let lifecycle: Lifecycle

  public convenience init(
    url: String,
    apiKey: String,
    bundleIdentifier: String = Bundle.main.bundleIdentifier ?? ""
  ) {
    self.init(IntakeOptions(url: url, apiKey: apiKey, bundleIdentifier: bundleIdentifier))
  }

  public convenience init(_ options: IntakeOptions) {
    self.init(options, time: .system)
  }

  /// - Parameter time: the clocks, which tests replace
  package convenience init(_ options: IntakeOptions, time: TimeSource) {
    let transport = HttpTransport(url: options.url, apiKey: options.apiKey)
    self.init(options, time: time, transport: transport)
  }

  init(_ options: IntakeOptions, time: TimeSource, transport: any Transport) {
    precondition(
      URL(string: options.url)?.host != nil && !options.apiKey.isEmpty
        && !options.bundleIdentifier.isEmpty,
      "Intake needs a URL with a host, an API key and a bundle identifier")
    recorder = Recorder(options, time: time)
    worker = Worker(
      options, recorder: recorder, transport: transport, time: time,
      directory: options.directory ?? defaultDirectory(options.bundleIdentifier))
    lifecycle = Lifecycle(worker)
    inBackground { await $0.wake() }
  }

  /// Keeps an event and sends it later. The call takes microseconds and waits for nothing.
  ///
  /// - Parameter params: values that JSON can represent, and dates, UUIDs and URLs
  /// - Returns: the id of the event; nil if the event is not kept. The id becomes the column `id`,
  /// unless the clock was wrong: the client then changes the id before it sends the event. If the
  /// event is not kept, `onDrop` gets the reason, except after `optOut`, after `shutdown`, and if
  /// `beforeSend` returned nil
  @discardableResult
  public func log(_ event: String, _ params: [String: Any] = [:]) -> String? {
    let recorded = recorder.log(event, params)
    if recorded?.isFirst == true { inBackground { await $0.store() } }
    return recorded?.id
  }

  /// Keeps a feedback and sends it soon. Returns when the client has stored the feedback on the
  /// device, or has decided not to keep it.
  ///
  /// - Parameter attachments: up to four images
  @discardableResult
  public func feedback(
    text: String, email: String = "", attachments: [Attachment] = []
  ) async -> FeedbackReceipt {
    let (id, ms, user) = recorder.newFeedback()
    let feedback = Feedback(text: text, email: email, attachments: attachments)
    return FeedbackReceipt(id: id, isKept: await worker.add(id, at: ms, user: user, feedback))
  }

  /// Sets the user of all later records; nil if there is no user.
  public func identify(_ userId: String?) {
    recorder.user = validUser(userId)
  }

  /// Returns when every event that was logged before this call is stored on the device and survives
  /// a power failure.
  public func stored() async {
    await worker.save()
  }

  /// Sends the records that wait: at once, or after the pause that follows a failure. Returns when
  /// none remain, when sending has stopped, or after `timeout` seconds. The result is the number of
  /// remaining records.
  @discardableResult
  public func flush(timeout: TimeInterval = 5) async -> Int {
    await worker.flush(timeout: timeout)
  }

  /// Flushes and ends the client. Returns the number of remaining records, which are sent after the
  /// next start. Calls after this one do nothing.
  @discardableResult
  public func shutdown(timeout: TimeInterval = 5) async -> Int {
    await worker.shutdown(timeout: timeout)
  }

  /// Deletes all records that wait, and keeps no new ones, even after a restart.
  public func optOut() async {
    await worker.optOut()
  }

  /// Undoes `optOut`, so that later records are kept and sent.
  public func optIn() async {
    await worker.optIn()
  }

  public func stats() async -> Stats {
    await worker.stats()
  }

  private func inBackground(_ run: @escaping @Sendable (Worker) async -> Void) {
    let worker = worker
    Task.detached(priority: .utility) { await run(worker) }
  }
}

struct Feedback: Sendable {
  let text: String
  let email: String
  let attachments: [Attachment]
}

private func defaultDirectory(_ bundleIdentifier: String) -> URL {
  let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
  let parent = support.first ?? FileManager.default.temporaryDirectory
  let name = String(bundleIdentifier.map { $0.isLetter || $0.isNumber || ".-_".contains($0) ? $0 : "_" })
  return parent.appendingPathComponent("Intake").appendingPathComponent(name)
}
