import Foundation

@testable import Intake

/// Handles batches and feedback as the gateway does, unless a test has set another response.
final class FakeServer: Transport, @unchecked Sendable {
  struct Row {
    let log: [String: Any]
    let batch: [String: Any]
    var id: String { log["id"] as? String ?? "" }
    var event: String { log["event"] as? String ?? "" }
  }

  enum Fault {
    /// The server gets the request, but the client gets no response.
    case lost
    /// The server does not get the request, and the client gets no response.
    case unreachable
    case answer(Int, String, retryAfter: String? = nil)
  }

  private let lock = NSLock()
  private let clock: @Sendable () -> Double
  private var stored: [Row] = []
  private var forms: [(id: String, body: String)] = []
  private var seen: [OutgoingRequest] = []
  private var faults: [Fault] = []
  private var rejecting: (@Sendable (String) -> String?)?
  private var refusing: (@Sendable (OutgoingRequest) -> Int?)?

  init(clock: @escaping @Sendable () -> Double = TimeSource.system.now) {
    self.clock = clock
  }

  var rows: [Row] { lock.withLock { stored } }
  var events: [String] { rows.map(\.event) }
  /// The forms of the feedback that is stored.
  var feedback: [String] { lock.withLock { forms.map(\.body) } }
  /// All requests that clients have sent, whether the server got them or not.
  var requests: [OutgoingRequest] { lock.withLock { seen } }

  func add(_ more: Fault...) { lock.withLock { faults += more } }
  /// Sets a function that returns the code with which an event is rejected.
  func reject(_ code: @escaping @Sendable (String) -> String?) { lock.withLock { rejecting = code } }
  /// Sets a function that returns the status with which a request is refused.
  func refuse(_ status: @escaping @Sendable (OutgoingRequest) -> Int?) {
    lock.withLock { refusing = status }
  }

  func close() {}

  func send(_ request: OutgoingRequest) async -> Answer? {
    lock.withLock { () -> Answer? in
      seen.append(request)
      let fault = faults.isEmpty ? nil : faults.removeFirst()
      switch fault {
      case .unreachable: return nil
      case .answer(let status, let body, let retryAfter):
        return answer(status, Data(body.utf8), retryAfter)
      default: break
      }
      if let status = refusing?(request) { return answer(status, Data()) }
      let body = request.path == "/log/batch" ? keep(request) : keepForm(request)
      let data = (try? JSONSerialization.data(withJSONObject: body)) ?? Data()
      if case .lost = fault { return nil }
      return answer(request.path == "/log/batch" ? 207 : 201, data)
    }
  }

  private func answer(_ status: Int, _ body: Data, _ retryAfter: String? = nil) -> Answer {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(secondsFromGMT: 0)
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = format.string(from: Date(timeIntervalSince1970: clock() / 1000))
    return Answer(status: status, body: body, date: date, retryAfter: retryAfter)
  }

  private func keep(_ request: OutgoingRequest) -> [String: Any] {
    let batch = Json.parseObject(request.body)
    let logs = batch["logs"] as? [[String: Any]] ?? []
    let results = logs.map { log -> [String: Any] in
      let row = Row(log: log, batch: batch)
      let ageMs = clock() - Double(timeOfUuid(row.id.utf8))
      let isOutOfRange = ageMs > 30 * 86_400_000 || ageMs < -600_000
      if let code = isOutOfRange ? "id_time_out_of_range" : rejecting?(row.event) {
        return ["status": "rejected", "code": code]
      }
      if !stored.contains(where: { $0.id == row.id }) { stored.append(row) }
      return ["status": "accepted", "id": row.id]
    }
    return ["results": results]
  }

  private func keepForm(_ request: OutgoingRequest) -> [String: Any] {
    let body = String(decoding: request.body, as: UTF8.self)
    let id = body.range(of: #""id":"[^"]*""#, options: .regularExpression).map { String(body[$0]) }
    if let id, !forms.contains(where: { $0.id == id }) { forms.append((id, body)) }
    return ["id": "some"]
  }
}

/// Makes tasks wait until the gate is opened.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func wait() async {
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  func open() {
    isOpen = true
    for waiter in waiting { waiter.resume() }
    waiting = []
  }
}

/// Gives every request the same response, but only after `mayAnswer` is opened.
final class HeldTransport: Transport {
  let asked = Gate()
  let mayAnswer = Gate()
  private let answer: Answer

  init(_ answer: Answer) {
    self.answer = answer
  }

  func send(_ request: OutgoingRequest) async -> Answer? {
    await asked.open()
    await mayAnswer.wait()
    return answer
  }

  func close() {}
}
