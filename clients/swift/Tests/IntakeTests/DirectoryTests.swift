import Foundation
import XCTest

@testable import Intake

/// Tests with unexpected files in the directory: files of other programs, and damaged files.
final class DirectoryTests: XCTestCase {
  private var directory = FileManager.default.temporaryDirectory
  private let server = FakeServer()

  override func setUp() {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("intake-tests-\(UUID().uuidString)")
  }

  override func tearDown() {
    try? FileManager.default.removeItem(at: directory)
  }

  private func start(isOffline: Bool = false) -> Intake {
    var options = IntakeOptions(
      url: "https://intake.example.com", apiKey: "ik_test", bundleIdentifier: "com.example.app")
    options.directory = directory
    options.flushInterval = 3600
    options.retry = isOffline ? 3600...3600 : 0.01...0.05
    // Makes the next five requests fail. If this client sends fewer than five, the first requests
    // of the next client fail, and the next client repeats them.
    if isOffline { for _ in 1...5 { server.add(.unreachable) } }
    return Intake(options, time: .system, transport: server)
  }

  private var names: Set<String> {
    get throws { Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) }
  }

  private func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: directory.appendingPathComponent(name))
  }

  private func text(of name: String) throws -> String {
    String(decoding: try Data(contentsOf: directory.appendingPathComponent(name)), as: UTF8.self)
  }

  /// Makes a client leave an event in the directory. Returns the name of its file.
  private func leaveEvent() async throws -> String {
    let client = start(isOffline: true)
    client.log("good")
    await client.shutdown(timeout: 0)
    return try XCTUnwrap(try names.first { SegmentName(parsing: $0) != nil })
  }

  func testFilesOfOthersStayAsTheyAre() async throws {
    let id = UUID().uuidString.lowercased()
    let foreign: Set = [
      "app.log.2026.11.26.12.gz", "1.2.3.4.5.6.7", "\(id).0.2.4.5.6.7", "1.0.2.\(id).5.6.7",
      "state.json.new", "yarn.lock", "feedback-notes.txt", "feedback-notes.value", "settings.value",
    ]
    for name in foreign { try write("not yours", to: name) }
    let client = start()
    client.log("tap")
    await client.flush()
    await client.optOut()
    await client.shutdown()
    XCTAssertEqual(try names.intersection(foreign), foreign)
    let dropped = await client.stats().dropped
    XCTAssertEqual(dropped, [:])
    XCTAssertEqual(server.events, ["tap"])
  }

  func testNamesWithStrangeNumbersCostNoEvent() async throws {
    let good = try await leaveEvent()
    var foreign: Set<String> = []
    for at in [1, 2, 4, 5, 6] {
      for number in ["9223372036854775807", "-9223372036854775808", "99999999999999999999", "+1", "01"] {
        for id in [String(good.prefix(36)), UUID().uuidString.lowercased()] {
          var parts = good.components(separatedBy: ".")
          (parts[0], parts[at]) = (id, number)
          foreign.insert(parts.joined(separator: "."))
        }
      }
    }
    for name in foreign { try write("not yours", to: name) }
    let client = start()
    let left = await client.flush()
    XCTAssertEqual(left, 0)
    XCTAssertEqual(server.events, ["good"])
    let dropped = await client.stats().dropped
    XCTAssertEqual(dropped, [:])
    await client.shutdown()
    XCTAssertEqual(try names.intersection(foreign), foreign)
  }

  func testDamagedLinesCostNoOtherEvent() async throws {
    let name = try await leaveEvent()
    let lines = try text(of: name).components(separatedBy: "\n")
    for id in ["1", String(repeating: "-", count: 60)] {
      let damaged = "{\"id\":\"\(id)\"}"
      try write((lines.dropLast() + [damaged, ""]).joined(separator: "\n"), to: name)
      let client = start()
      await client.flush()
      XCTAssertEqual(server.events, ["good"])
      await client.shutdown()
    }
  }

  func testAnEraThatCannotBeTrueStopsNothing() async throws {
    let name = try await leaveEvent()
    let era = #""era":{"drift":1e300,"offset":-1e300,"isTrusted":false}"#
    let text = try text(of: name)
      .replacingOccurrences(of: #""era":\{[^}]*\}"#, with: era, options: .regularExpression)
    XCTAssertTrue(text.contains("1e300"))
    try write(text, to: name)
    // The client learns the server's clock from the first response, before it reads the segment.
    let client = start()
    await client.feedback(text: "Good")
    await client.flush()
    XCTAssertEqual(server.events, ["good"])
    await client.shutdown()
  }

  func testValuesThatCannotBeParsedHideNothingElse() async throws {
    let part = { (bytes: Int) in #"{"name":"","type":"","bytes":\#(bytes)}"# }
    for (victim, text) in [
      ("device", ""), ("dropped", ""), ("dropped", #"{"invalid_event":9223372036854775807}"#),
      ("opted-out", ""), ("sequence", ""), ("sequence", "9999999999999999"), ("feedback", ""),
      ("feedback", "[\(part(-1))]\n{}\n"), ("feedback", "[\(part(.max)),\(part(1))]\n{}\n"),
    ] {
      try? FileManager.default.removeItem(at: directory)
      let first = start(isOffline: true)
      for text in ["a", "b"] { await first.feedback(text: text) }
      first.log("kept")
      first.log("")
      await first.stored()
      if victim == "opted-out" { await first.optOut() }
      await first.shutdown(timeout: 0)
      let isOut = victim == "opted-out"
      let file = try XCTUnwrap(try names.first { $0.hasPrefix(victim) })
      try write(text, to: file)
      let (rows, forms) = (server.rows.count, server.feedback.count)
      for event in ["c", "d"] {
        let next = start()
        next.log("")
        next.log(event)
        await next.flush(timeout: 60)
        await next.shutdown()
      }
      let sent = server.rows.dropFirst(rows).filter { $0.event != "intake.dropped" }
      XCTAssertEqual(sent.map(\.event), isOut ? [] : ["kept", "c", "d"], file)
      let devices = Set(sent.dropFirst().map { $0.batch["device_uuid"] as? String })
      XCTAssertEqual(devices.count, isOut ? 0 : 1, "the device keeps its next UUID")
      let feedback = server.feedback.count - forms
      XCTAssertEqual(feedback, isOut ? 0 : victim == "feedback" ? 1 : 2, file)
    }
  }
}
