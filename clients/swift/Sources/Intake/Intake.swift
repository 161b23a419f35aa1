import Foundation

/// A client of Intake: what it has stored on the device arrives exactly once, through lost answers,
/// crashes and days without a network.
///
/// Make one when the app starts, and keep it. All methods may be called at any time, in any order, on any
/// thread, and none throws. Making it does no I/O.
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

  /// - Parameter time: what tests replace
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

  /// Keeps an event, and sends it later. It is over in microseconds and waits for nothing.
  ///
  /// - Parameter params: what JSON can hold, and dates, UUIDs and URLs
  /// - Returns: the id of the event, the column `id`; nil: it was dropped, and `onDrop` got the reason
  @discardableResult
  public func log(_ event: String, _ params: [String: Any] = [:]) -> String? {
    let recorded = recorder.log(event, params)
    if recorded?.isFirst == true { inBackground { await $0.store() } }
    return recorded?.id
  }

  /// Keeps a feedback and sends it soon. Returns when it is stored on the device.
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

  /// The user of all later records; nil: nobody.
  public func identify(_ userId: String?) {
    recorder.user = validUser(userId)
  }

  /// Returns when every event that was logged before is stored on the device, durably.
  public func stored() async {
    await worker.save()
  }

  /// Sends what waits, at once unless sending pauses after a failure. Returns when nothing is left, when
  /// sending has stopped, or after `timeout` seconds, with the number of records left.
  @discardableResult
  public func flush(timeout: TimeInterval = 5) async -> Int {
    await worker.flush(timeout: timeout)
  }

  /// Flushes and ends; what is left is sent after the next start. Later calls do nothing.
  @discardableResult
  public func shutdown(timeout: TimeInterval = 5) async -> Int {
    await worker.shutdown(timeout: timeout)
  }

  /// Deletes everything that waits and keeps nothing more, also after a restart.
  public func optOut() async {
    await worker.optOut()
  }

  /// Ends `optOut`.
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
