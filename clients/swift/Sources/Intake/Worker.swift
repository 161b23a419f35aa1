import Foundation

/// Stores the events that were recorded, and sends them. All its jobs run one after another on
/// `queue`.
actor Worker {
  /// An fsync takes milliseconds, so events collect for this many nanoseconds and share one fsync.
  private static let syncDelay: UInt64 = 50_000_000
  private static let deviceKey = "device"
  private static let optedOutKey = "opted-out"
  private static let droppedKey = "dropped"

  private let queue = WorkQueue()
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  private let recorder: Recorder
  private let transport: any Transport
  private let time: TimeSource
  private let storage: Storage
  private let logs: LogQueue
  private let sender: LogSender
  private let feedbacks: Feedbacks
  private let logLane: Lane
  private let feedbackLane: Lane
  private let identity: Identity
  private let flushInterval: TimeInterval
  private var isStarted = false
  /// Whether `recorder.drops` includes the counts that earlier runs stored.
  private var hasOldDrops = false
  /// True after `shutdown`. Other clients may then have taken over the records.
  private var hasEnded = false
  private var stopped: String?
  private var lastError: SendError?
  /// The number of refusals in a row.
  private var refusals = 0
  private var syncTimer: Task<Void, Never>?
  private var flushTimer: Task<Void, Never>?
  /// The rests of refused records. They end with the lanes.
  private var rests: [ObjectIdentifier: Task<Void, Never>] = [:]
  /// The waiting calls of `flush`, by their number. They return when nothing more can be sent.
  private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  private var waiterCount = 0

  init(
    _ options: IntakeOptions, recorder: Recorder, transport: any Transport, time: TimeSource,
    directory: URL
  ) {
    let run = recorder.newId()
    let identity = Identity(options)
    self.recorder = recorder
    self.transport = transport
    self.time = time
    self.identity = identity
    flushInterval = options.flushInterval
    storage = Storage(Files(directory, run: run))
    logs = LogQueue(
      options, storage: storage, recorder: recorder, run: run,
      senderOf: { identity.sender(user: $0, isOfFeedback: false) })
    sender = LogSender(queue: logs, recorder: recorder, run: run)
    feedbacks = Feedbacks(storage: storage, drops: recorder.drops)
    logLane = Lane(retry: options.retry, time: time)
    feedbackLane = Lane(retry: options.retry, time: time)
  }

  /// Takes over the records of earlier runs, at the first call.
  private func start() {
    if isStarted { return }
    isStarted = true
    identity.readDevice()
    if identity.deviceUuid.isEmpty { identity.deviceUuid = findDeviceUuid() }
    _ = addOldDrops()
    if storage.hasValue(Self.optedOutKey) { recorder.isOptedOut = true }
    let (names, keys) = storage.list()
    logs.adopt(names)
    feedbacks.adopt(keys)
    if recorder.isOptedOut { removeAll() }
    wake(logLane)
    wake(feedbackLane)
    refreshBattery()
  }

  private func findDeviceUuid() -> String {
    let made = recorder.newId()
    var read = try? storage.value(Self.deviceKey) ?? Data()
    // Waits for a storage that fails for a moment, because records that are sent meanwhile would be
    // of another device. Only this queue waits; events are recorded and nothing is sent.
    for _ in 0..<Limits.startAttempts where read == nil {
      Thread.sleep(forTimeInterval: 1)
      read = try? storage.value(Self.deviceKey) ?? Data()
    }
    // Does not overwrite a value that cannot be read now.
    guard let stored = read else { return made }
    let kept = String(decoding: stored, as: UTF8.self)
    if UUID(uuidString: kept) != nil { return kept }
    storage.setValue(Data(made.utf8), for: Self.deviceKey)
    return made
  }

  /// Adds to `recorder.drops`, once, the counts that earlier runs stored.
  ///
  /// - Returns: false if the counts cannot be read now; they must not be overwritten then
  private func addOldDrops() -> Bool {
    if hasOldDrops { return true }
    guard let stored = try? storage.value(Self.droppedKey) ?? Data() else { return false }
    hasOldDrops = true
    recorder.drops.adopt((try? JSONDecoder().decode([String: Int].self, from: stored)) ?? [:])
    return true
  }

  private func removeAll() {
    logs.clear()
    feedbacks.clear()
  }

  private func refreshBattery() {
    Task { identity.battery = await readBattery() }
  }

  // MARK: Storing

  /// Stores the events that were recorded, so that they survive the end of the process.
  func store() {
    start()
    let taken = recorder.take()
    logs.store(taken)
    saveDrops()
    if taken.events.isEmpty { return }
    if syncTimer == nil {
      syncTimer = Task {
        try? await Task.sleep(nanoseconds: Self.syncDelay)
        syncTimer = nil
        logs.sync()
      }
    }
    if flushTimer == nil {
      flushTimer = Task {
        guard (try? await Task.sleep(seconds: flushInterval)) != nil else { return }
        flushTimer = nil
        close()
        refreshBattery()
        wake(logLane)
      }
    }
  }

  /// Stores all recorded events, and makes them survive a power failure.
  func save() {
    store()
    logs.sync()
  }

  private func close() {
    store()
    logs.close()
  }

  /// Stores the counts of dropped records, so that they can be reported after a restart.
  private func saveDrops() {
    guard addOldDrops(), let unreported = recorder.drops.takeChanged() else { return }
    storage.setValue((try? JSONEncoder().encode(unreported)) ?? Data(), for: Self.droppedKey)
  }

  private func reportDrops() {
    if recorder.isOptedOut || recorder.isShut { return }
    guard let counts = recorder.drops.takeUnreported(), let params = Json.print(counts) else { return }
    _ = recorder.record("intake.dropped", params: params)
    store()
  }

  // MARK: Sending

  /// Sends the requests of a lane, at once or after its pause.
  ///
  /// - Parameter isUrgent: whether to skip the rest of a pause that follows a failure. A pause that
  /// the server asked for is never shortened
  private func wake(_ lane: Lane, isUrgent: Bool = false) {
    if lane.isRunning || lane.isClosed { return }
    lane.timer?.cancel()
    lane.timer = nil
    let pauseMs = lane.left(isUrgent: isUrgent)
    if pauseMs > 1 {
      lane.timer = Task {
        guard (try? await Task.sleep(seconds: pauseMs / 1000)) != nil else { return }
        wake(lane)
      }
    } else {
      lane.isRunning = true
      Task { await run(lane) }
    }
  }

  /// Sends one request after another, until no record can be sent or a request fails.
  private func run(_ lane: Lane) async {
    var last: Sent?
    repeat {
      last = lane.isClosed ? nil : await send(lane)
      if case .settled = last { lane.succeed() }
    } while last.isSettled
    lane.isRunning = false
    switch last {
    case .pause(let retryAfterMs):
      lane.pause(retryAfterMs)
      wake(lane)
    case .refused(let waiting, let retryAfterMs):
      rest(waiting, lane)
      lane.pause(retryAfterMs)
      wake(lane)
    case .stop(let code): stop(code)
    default: break
    }
    settleWaiting()
  }

  /// Counts a refusal. After the third and each later one, what was refused rests.
  private func rest(_ waiting: Waiting, _ lane: Lane) {
    waiting.failures += 1
    if waiting.failures < Limits.fewAttempts || lane.isClosed { return }
    waiting.isResting = true
    let id = ObjectIdentifier(waiting)
    rests[id] = Task {
      let seconds = Double(waiting.failures) * Limits.rest
      guard (try? await Task.sleep(seconds: seconds)) != nil else { return }
      rests[id] = nil
      waiting.isResting = false
      wake(lane)
    }
  }

  /// Sends the oldest records of a lane.
  ///
  /// - Returns: nil if none can be sent
  private func send(_ lane: Lane) async -> Sent? {
    do {
      return try await lane === logLane ? sendLogs() : sendFeedback()
    } catch {
      // Records that cannot be read are kept. The lane pauses as after a network failure.
      return .pause(0)
    }
  }

  /// Sends the oldest segment.
  ///
  /// - Returns: nil if none can be sent
  private func sendLogs() async throws -> Sent? {
    guard let attempt = try sender.begin() else { return nil }
    let attempted = await self.attempt(sender.request(attempt))
    let sent = sender.settle(attempt, attempted, refusals: refusals)
    // Reports dropped records now, because the server responds.
    if sent.isSettled { reportDrops() }
    return sent
  }

  /// Sends the oldest feedback. If the server refuses the form as too large, it is sent again
  /// without its images, so that at least the text arrives.
  ///
  /// - Returns: nil if nothing can be sent
  private func sendFeedback() async throws -> Sent? {
    guard let (key, feedback) = try feedbacks.begin() else { return nil }
    var attempted = await attempt(feedback.form(withAttachments: true))
    if case .split = attempted.decision, !feedback.attachments.isEmpty {
      recorder.drops.add(attempted.code, feedback.attachments.count)
      attempted = await attempt(feedback.form(withAttachments: false))
    }
    return feedbacks.settle(key, attempted)
  }

  private func attempt(_ request: OutgoingRequest) async -> Attempted {
    let began = time.monotonic()
    let answer = await transport.send(request)
    // A response that arrives after the end of the client is ignored, so that the records are kept
    // unchanged.
    var attempted = Attempted(
      hasEnded ? nil : answer, tookMs: time.monotonic() - began, recorder: recorder)
    if let failure = attempted.failure { lastError = failure }
    // After a success, what the request contains may be why there is no response.
    if answer == nil && refusals == 0 && !hasEnded { attempted.decision = .few }
    switch attempted.decision {
    case _ where attempted.failure == nil: refusals = 0
    case .few: refusals += 1
    case .split, .drop: refusals = 0
    case .retry, .stop: break
    }
    return attempted
  }

  private func stop(_ code: String) {
    stopped = code
    closeLanes()
  }

  private func closeLanes() {
    for lane in [logLane, feedbackLane] {
      lane.isClosed = true
      lane.timer?.cancel()
    }
    for rest in rests.values { rest.cancel() }
    rests = [:]
  }

  /// Sends at once, because the app is in the foreground again.
  func wake() {
    start()
    wake(logLane, isUrgent: true)
    wake(feedbackLane, isUrgent: true)
  }

  // MARK: What the app asks for

  func add(_ id: String, at ms: Int, user: String, _ feedback: Feedback) -> Bool {
    start()
    if recorder.isOptedOut || recorder.isShut { return false }
    if feedback.text.isEmpty {
      recorder.drops.add("invalid_feedback")
      return false
    }
    var payload = identity.sender(user: user, isOfFeedback: true)
    payload.removeLast()
    payload += ",\"feedback\":".utf8
    payload += Json.print(parts: [
      "id": Json.print(id), "text": Json.print(feedback.text), "email": Json.print(feedback.email),
      "attachments": Array("[]".utf8), "timestamp": Json.print(printTime(ms)),
    ])
    payload.append(UInt8(ascii: "}"))
    let attachments = Array(feedback.attachments.prefix(Limits.attachments))
    guard feedbacks.add(id, StoredFeedback(payload: payload, attachments: attachments)) else {
      recorder.drops.add("feedback_full")
      return false
    }
    wake(feedbackLane)
    return true
  }

  /// Sends the records that wait, for at most `timeout` seconds.
  ///
  /// - Returns: the number of records that remain
  func flush(timeout: TimeInterval) async -> Int {
    close()
    wake(logLane)
    wake(feedbackLane)
    await settled(timeout)
    return left
  }

  private var left: Int { recorder.count + logs.count + feedbacks.count }

  /// Whether the client sends nothing more, not even after a pause, until the app calls it again.
  private var isSettled: Bool {
    if logLane.isRunning || feedbackLane.isRunning { return false }
    return logLane.isClosed || (logs.oldest == nil && !feedbacks.canSend)
  }

  private func settled(_ timeout: TimeInterval) async {
    if isSettled { return }
    waiterCount += 1
    let waiter = waiterCount
    let timer = Task {
      try? await Task.sleep(seconds: timeout)
      waiting.removeValue(forKey: waiter)?.resume()
    }
    await withCheckedContinuation { waiting[waiter] = $0 }
    timer.cancel()
  }

  private func settleWaiting() {
    if !isSettled { return }
    for waiter in waiting.values { waiter.resume() }
    waiting = [:]
  }

  func shutdown(timeout: TimeInterval) async -> Int {
    let left = await flush(timeout: timeout)
    recorder.isShut = true
    closeLanes()
    flushTimer?.cancel()
    syncTimer?.cancel()
    close()
    hasEnded = true
    storage.close()
    transport.close()
    return left
  }

  func optOut() {
    recorder.isOptedOut = true
    start()
    storage.setValue(Data("true".utf8), for: Self.optedOutKey)
    removeAll()
    settleWaiting()
  }

  func optIn() {
    start()
    storage.removeValue(Self.optedOutKey)
    recorder.isOptedOut = false
  }

  func stats() -> Stats {
    start()
    return Stats(
      pendingLogs: recorder.count + logs.count,
      pendingFeedback: feedbacks.count,
      stopped: stopped,
      lastError: lastError,
      dropped: recorder.drops.total,
      storageBytes: logs.bytes,
      isOptedOut: recorder.isOptedOut,
      clockOffset: recorder.withClock { $0.era.offset } / 1000)
  }
}

extension Optional<Sent> {
  fileprivate var isSettled: Bool {
    if case .settled = self { return true }
    return false
  }
}

extension Sent {
  fileprivate var isSettled: Bool { Optional(self).isSettled }
}

extension Task where Success == Never, Failure == Never {
  fileprivate static func sleep(seconds: TimeInterval) async throws {
    try await sleep(nanoseconds: UInt64(min(max(seconds, 0), 1e9) * 1e9))
  }
}
