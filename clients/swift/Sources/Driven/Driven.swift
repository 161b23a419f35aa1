import Foundation
import Intake

/// Runs the calls that the tests of the repository make.
final class Driven: @unchecked Sendable {
  private let lock = NSLock()
  private let output = NSLock()
  private var aheadMs = 0.0
  private var client: Intake?

  /// Runs a call in the background, and writes its result.
  func start(_ line: String) {
    let (id, method, args) = parse(line)
    // `init` and logging run at once, not in a task: the client must exist before later calls, and
    // the order of events must be kept.
    if method == "init" { initialize(args[0] as? [String: Any] ?? [:]) }
    if method == "log" || method == "logs" {
      let written = log(method, args)
      Task {
        await self.client?.stored()
        self.write(id, written)
      }
    } else {
      Task { await self.run(line) }
    }
  }

  private func parse(_ line: String) -> (id: Int, method: String, args: [Any]) {
    let value = try? JSONSerialization.jsonObject(with: Data(line.utf8))
    let call = value as? [String: Any] ?? [:]
    return (
      call["id"] as? Int ?? 0, call["method"] as? String ?? "", call["args"] as? [Any] ?? []
    )
  }

  private func write(_ id: Int, _ result: [String: any Sendable]) {
    let message: [String: Any] = ["id": id, "result": result]
    guard var data = try? JSONSerialization.data(withJSONObject: message) else { return }
    data.append(UInt8(ascii: "\n"))
    output.withLock { FileHandle.standardOutput.write(data) }
  }

  private func initialize(_ options: [String: Any]) {
    let number = { (name: String) in (options[name] as? NSNumber)?.doubleValue }
    var made = IntakeOptions(
      url: options["url"] as? String ?? "", apiKey: options["apiKey"] as? String ?? "",
      bundleIdentifier: options["bundleIdentifier"] as? String ?? "")
    made.directory = URL(fileURLWithPath: options["storage"] as? String ?? "")
    made.deviceUuid = (options["deviceUuid"] as? String).flatMap(UUID.init)
    made.userId = options["userId"] as? String
    if let ms = number("flushIntervalMs") { made.flushInterval = ms / 1000 }
    if let count = number("batchEntriesMax") { made.batchEntriesMax = Int(count) }
    if let count = number("storageEventsMax") { made.storageEventsMax = Int(count) }
    if let bytes = number("storageBytesMax") { made.storageBytesMax = Int(bytes) }
    if let retry = options["retryMs"] as? [String: Any],
      let low = (retry["min"] as? NSNumber)?.doubleValue,
      let high = (retry["max"] as? NSNumber)?.doubleValue
    {
      made.retry = low / 1000...high / 1000
    }
    aheadMs = number("aheadMs") ?? 0
    let system = TimeSource.system
    let now: @Sendable () -> Double = { system.now() + self.lock.withLock { self.aheadMs } }
    client = Intake(made, time: TimeSource(now: now, monotonic: system.monotonic))
  }

  private func log(_ method: String, _ args: [Any]) -> [String: any Sendable] {
    guard let client, let event = args[method == "log" ? 0 : 2] as? String else { return [:] }
    if method == "log" {
      let params = args.count > 1 ? args[1] as? [String: Any] : nil
      guard let id = client.log(event, params ?? [:]) else { return [:] }
      return ["id": id]
    }
    let (from, count) = (args[0] as? Int ?? 0, args[1] as? Int ?? 0)
    for n in from..<from + count { client.log(event, ["n": n]) }
    return ["stored": count]
  }

  private func run(_ line: String) async {
    guard let client else { return }
    let (id, method, args) = parse(line)
    var result: [String: any Sendable] = [:]
    switch method {
    case "clock": lock.withLock { aheadMs = (args[0] as? NSNumber)?.doubleValue ?? 0 }
    case "feedback":
      let receipt = await client.feedback(
        text: args[0] as? String ?? "", email: args[1] as? String ?? "",
        attachments: (args[2] as? [[String: String]] ?? []).map {
          Attachment(
            data: Data(base64Encoded: $0["base64"] ?? "") ?? Data(), name: $0["name"] ?? "",
            type: $0["type"] ?? "")
        })
      result = ["id": receipt.id, "isKept": receipt.isKept]
    case "flush":
      let ms = (args[0] as? NSNumber)?.doubleValue ?? 0
      result["left"] = await client.flush(timeout: ms / 1000)
    case "stats": result = describe(await client.stats())
    case "identify": client.identify(args.first as? String)
    case "optOut": await client.optOut()
    case "optIn": await client.optIn()
    case "shutdown": await client.shutdown()
    case "memory": result["residentBytes"] = residentBytes()
    default: break
    }
    write(id, result)
  }

  private func describe(_ stats: Stats) -> [String: any Sendable] {
    [
      "pending": ["logs": stats.pendingLogs, "feedback": stats.pendingFeedback],
      "stopped": stats.stopped ?? "",
      "lastError": stats.lastError?.code ?? "",
      "dropped": stats.dropped,
      "storageBytes": stats.storageBytes,
      "isOptedOut": stats.isOptedOut,
      "clockOffsetMs": stats.clockOffset * 1000,
    ]
  }
}

/// The memory of this process in bytes; 0 if the system does not report it.
func residentBytes() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}
