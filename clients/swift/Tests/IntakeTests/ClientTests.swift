import Foundation
import XCTest

@testable import Intake

private let dayMs = 86_400_000.0

final class ClientTests: XCTestCase {
  private var directory = FileManager.default.temporaryDirectory
  private let ahead = Locked(0.0)

  override func setUp() {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("intake-tests-\(UUID().uuidString)")
  }

  override func tearDown() {
    try? FileManager.default.removeItem(at: directory)
  }

  private func start(
    _ server: any Transport, in folder: URL? = nil, _ change: (inout IntakeOptions) -> Void = { _ in }
  ) -> Intake {
    var options = IntakeOptions(
      url: "https://intake.example.com", apiKey: "ik_test", bundleIdentifier: "com.example.app")
    options.directory = folder ?? directory
    options.deviceUuid = UUID(uuidString: "BD9C40F6-2F4F-4B8A-9D3B-7D3A4F1C2E10")
    options.flushInterval = 3600
    options.retry = 0.01...0.05
    change(&options)
    let (system, ahead) = (TimeSource.system, ahead)
    let now: @Sendable () -> Double = { system.now() + ahead.withLock { $0 } }
    let time = TimeSource(now: now, monotonic: system.monotonic)
    return Intake(options, time: time, transport: server)
  }

  private var files: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
    return (names ?? []).filter { !$0.hasSuffix(".lock") }.sorted()
  }

  func testAnEventBecomesOneRowWithItsIdDeviceUserAndSequence() async {
    let server = FakeServer()
    let client = start(server) {
      $0.userId = "user-1"
      $0.device = ["version_name": "1.2", "build_host": "h"]
    }
    let id = client.log("tap", ["button": "buy"])
    let left = await client.flush()
    XCTAssertEqual(left, 0)
    XCTAssertEqual(server.rows.map(\.id), [id])
    XCTAssertEqual(server.rows[0].log["sequence"] as? Int, 1)
    let batch = server.rows[0].batch
    XCTAssertEqual(batch["device_uuid"] as? String, "bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10")
    XCTAssertEqual(batch["unique_user_id"] as? String, "user-1")
    let device = batch["device"] as? [String: Any] ?? [:]
    XCTAssertEqual(device["version_name"] as? String, "1.2")
    XCTAssertNil(device["build_host"], "it goes with feedback only")
    XCTAssertNotNil(device["os"])
    await client.shutdown()
    XCTAssertEqual(files, ["sequence"], "nothing is left")
  }

  func testAnAnswerThatArrivesAfterShutdownChangesNothing() async {
    let held = HeldTransport(
      Answer(
        status: 413, body: Data(#"{"code":"body_too_large"}"#.utf8), date: nil, retryAfter: nil))
    let first = start(held)
    for _ in 1...10 { first.log("tap") }
    await first.flush(timeout: 0)
    await held.asked.wait()
    let remaining = await first.shutdown(timeout: 0)
    XCTAssertEqual(remaining, 10)
    let kept = files
    XCTAssertEqual(kept.count, 2, "a segment, and the counter of numbers")
    await held.mayAnswer.open()
    // Waits until the request has ended.
    await first.flush(timeout: 60)
    XCTAssertEqual(files, kept)
    let dropped = await first.stats().dropped
    XCTAssertEqual(dropped, [:])

    let server = FakeServer()
    let second = start(server)
    let left = await second.flush()
    XCTAssertEqual(left, 0)
    XCTAssertEqual(server.rows.count, 10)
    await second.shutdown()
  }

  func testTheNextClientFindsAllEvenIfARequestIsOpenAndWritesWait() async {
    let server = FakeServer()
    let refusal = Answer(
      status: 413, body: Data(#"{"code":"body_too_large"}"#.utf8), date: nil, retryAfter: nil)
    for round in 1...100 {
      let held = HeldTransport(refusal)
      let first = start(held)
      first.log("sent")
      let flushing = Task { await first.flush(timeout: 60) }
      if round.isMultiple(of: 2) { await held.asked.wait() }
      for _ in 1...3 { first.log("waiting") }
      await first.shutdown(timeout: Double(round % 4) / 1000)
      let second = start(server)
      let sending = Task { await second.flush(timeout: 60) }
      await held.mayAnswer.open()
      _ = await flushing.value
      let left = await sending.value
      XCTAssertEqual(left, 0)
      XCTAssertEqual(server.rows.count, 4 * round)
      let dropped = [await first.stats().dropped, await second.stats().dropped]
      XCTAssertEqual(dropped, [[:], [:]])
      await second.shutdown()
    }
  }

  func testAnEntryWithAStatusThatNobodyKnowsCountsAsRejected() async {
    let server = FakeServer()
    server.add(.answer(207, #"{"results":[{"status":"parked"}]}"#))
    let client = start(server)
    client.log("tap")
    await client.flush()
    let dropped = await client.stats().dropped
    XCTAssertEqual(dropped, ["unknown": 1])
    await client.shutdown()
  }

  func testItSendsByItselfAfterItsInterval() async throws {
    let server = FakeServer()
    let client = start(server) { $0.flushInterval = 0.01 }
    client.log("tap")
    while server.rows.isEmpty { try await Task.sleep(nanoseconds: 1_000_000) }
    await client.shutdown()
  }

  func testEventsOfDifferentUsersGoInDifferentRequests() async {
    let server = FakeServer()
    let client = start(server)
    client.log("anonymous")
    client.identify("user-1")
    client.log("known")
    await client.flush()
    XCTAssertEqual(
      server.rows.map { $0.batch["unique_user_id"] as? String },
      ["bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10", "user-1"])
    await client.shutdown()
  }

  func testALostAnswerIsRepeatedWithTheSameBytes() async {
    let server = FakeServer()
    let client = start(server)
    server.add(.lost, .unreachable)
    client.log("tap")
    await client.flush()
    XCTAssertEqual(server.rows.count, 1)
    XCTAssertEqual(Set(server.requests.map(\.body)).count, 1)
    XCTAssertEqual(server.requests.count, 3)
    await client.shutdown()
  }

  func testWhatWasStoredIsSentAfterARestartAndTheSequenceGoesOn() async {
    let server = FakeServer()
    server.add(.unreachable)
    let first = start(server) { $0.retry = 60...60 }
    first.log("before")
    await first.shutdown(timeout: 0)
    let next = start(server)
    next.log("after")
    await next.flush()
    XCTAssertEqual(server.events, ["before", "after"])
    XCTAssertEqual(server.rows.map { $0.log["sequence"] as? Int }, [1, 2])
    await next.shutdown()
  }

  func testALineThatWasNotWrittenCompletelyCostsNoOtherEvent() async throws {
    let server = FakeServer()
    server.add(.unreachable)
    let first = start(server) { $0.retry = 60...60 }
    first.log("whole")
    await first.shutdown(timeout: 0)
    let name = try XCTUnwrap(files.first { SegmentName(parsing: $0) != nil })
    let file = try FileHandle(forWritingTo: directory.appendingPathComponent(name))
    file.seekToEndOfFile()
    file.write(Data("{\"id\":\"01a1fdfa-4600-75d0-9b9b-4b35".utf8))
    file.closeFile()
    let next = start(server)
    await next.flush()
    XCTAssertEqual(server.events, ["whole"])
    await next.shutdown()
  }

  func test413HalvesABatchUntilASingleEventIsGivenUp() async {
    let server = FakeServer()
    let client = start(server)
    server.refuse {
      let logs = Json.parseObject($0.body)["logs"] as? [[String: Any]] ?? []
      let isHuge = logs.contains { $0["event"] as? String == "huge" }
      return logs.count > 2 || isHuge ? 413 : nil
    }
    for event in ["a", "b", "c", "d", "e", "f", "g", "huge"] { client.log(event) }
    await client.flush()
    XCTAssertEqual(server.events.filter { $0.count == 1 }, ["a", "b", "c", "d", "e", "f", "g"])
    let dropped = await client.stats().dropped
    XCTAssertEqual(dropped, ["http_413": 1])
    await client.shutdown()
  }

  func test401StopsAndKeepsEverythingForTheNextStart() async {
    let server = FakeServer()
    let client = start(server)
    server.add(.answer(401, "{\"code\":\"unauthorized\",\"detail\":\"No such key.\"}"))
    let earlier = await client.stats().lastError
    XCTAssertNil(earlier)
    client.log("kept")
    let left = await client.flush()
    XCTAssertEqual(left, 1)
    let stopped = await client.stats().stopped
    XCTAssertEqual(stopped, "unauthorized")
    let error = await client.stats().lastError
    XCTAssertEqual(error?.status, 401)
    XCTAssertEqual(error?.code, "unauthorized")
    XCTAssertEqual(error?.message, "No such key.")
    XCTAssertEqual(server.requests.count, 1)
    await client.shutdown()
    let next = start(server)
    await next.flush()
    XCTAssertEqual(server.events, ["kept"])
    await next.shutdown()
  }

  func testA4xxOfAProxyIsRepeated() async {
    let server = FakeServer()
    let client = start(server)
    server.add(
      .answer(401, "<html>"), .answer(401, ""), .answer(421, "<html>"),
      .answer(409, "{\"code\":\"\"}"))
    client.log("tap")
    let left = await client.flush()
    XCTAssertEqual(left, 0)
    XCTAssertEqual(server.requests.count, 5)
    await client.shutdown()
  }

  func test500IsTriedThreeTimesThenTheOthersGoOn() async {
    let server = FakeServer()
    let client = start(server) { $0.batchEntriesMax = 1 }
    server.refuse { String(decoding: $0.body, as: UTF8.self).contains("poison") ? 500 : nil }
    client.log("poison")
    client.log("fine")
    await client.flush()
    XCTAssertEqual(server.events, ["fine"])
    XCTAssertEqual(server.requests.count, 4)
    let pending = await client.stats().pendingLogs
    XCTAssertEqual(pending, 1)
    await client.shutdown(timeout: 0)
  }

  func testRetryAfterIsKept() async {
    let server = FakeServer()
    let client = start(server)
    server.add(.answer(503, "{}", retryAfter: "100"))
    client.log("tap")
    let left = await client.flush(timeout: 0.5)
    XCTAssertEqual(left, 1)
    XCTAssertEqual(server.requests.count, 1)
    await client.shutdown(timeout: 0)
  }

  func testAPageThatPretendsToBeIntakeIsNoSuccess() async {
    let server = FakeServer()
    let client = start(server)
    server.add(
      .answer(207, "<html>"), .answer(200, "{\"results\":[]}"), .answer(404, "<html>"),
      .answer(207, "{\"results\":[{\"status\":1}]}"), .answer(302, ""))
    client.log("tap")
    await client.flush()
    XCTAssertEqual(server.rows.count, 1)
    await client.shutdown()
  }

  func testWhatWasRejectedIsReportedByReason() async {
    let server = FakeServer()
    let reasons = Locked([String]())
    let client = start(server) {
      $0.onDrop = { reason, count in reasons.withLock { $0.append("\(reason) \(count)") } }
    }
    server.reject { $0 == "bad" ? "a_code_of_next_year" : nil }
    client.log("bad")
    client.log("good")
    client.log("")
    client.log("no JSON", ["class": NSObject()])
    client.log("large", ["text": String(repeating: "x", count: 200_000)])
    await client.flush()
    await client.flush()
    XCTAssertEqual(
      reasons.withLock { $0 },
      ["invalid_event 1", "invalid_event 1", "too_large 1", "a_code_of_next_year 1"])
    let report = server.rows.first { $0.event == "intake.dropped" }?.log["params"] as? [String: Int]
    XCTAssertEqual(report, ["invalid_event": 2, "too_large": 1, "a_code_of_next_year": 1])
    await client.shutdown()
  }

  func testBeforeSendChangesAndDropsEvents() async {
    let server = FakeServer()
    let client = start(server) {
      $0.beforeSend = {
        $0.event == "secret" ? nil : LogEvent(event: $0.event + "!", params: ["changed": true])
      }
    }
    XCTAssertNil(client.log("secret"))
    client.log("tap")
    await client.flush()
    XCTAssertEqual(server.events, ["tap!"])
    await client.shutdown()
  }

  func testAClockThatIsWrongIsCorrectedForEventsThatWereNeverSent() async {
    let server = FakeServer()
    ahead.withLock { $0 = -3 * dayMs }
    let client = start(server) { $0.batchEntriesMax = 1 }
    server.add(.lost)
    client.log("sent")
    client.log("waiting")
    await client.flush()
    client.log("later")
    await client.flush()
    let now = TimeSource.system.now()
    let errors = server.rows.map { (($0.log["id"] as? String).map { timeOfUuid($0.utf8) } ?? 0) }
      .map { ((Double($0) - now) / dayMs).rounded() }
    XCTAssertEqual(server.events, ["sent", "waiting", "later"])
    XCTAssertEqual(errors, [-3, 0, 0])
    XCTAssertEqual(server.rows.map { $0.log["timestamp"] != nil }, [false, true, true])
    await client.shutdown()
  }

  func testIdsOutOfRangeAreGivenUpOnlyIfAnAttemptIsOpen() async {
    for isOpen in [true, false] {
      let server = FakeServer()
      ahead.withLock { $0 = 3 * dayMs }
      let client = start(server, in: directory.appendingPathComponent("\(isOpen)"))
      if isOpen { server.add(.unreachable) }
      client.log("tap")
      await client.flush()
      XCTAssertEqual(server.events.filter { $0 == "tap" }.count, isOpen ? 0 : 1)
      let dropped = await client.stats().dropped
      XCTAssertEqual(dropped, isOpen ? ["expired": 1] : [:])
      await client.shutdown()
    }
  }

  func testOptOutDeletesWhatWaitsAlsoAfterARestart() async {
    let server = FakeServer()
    server.add(.unreachable, .unreachable)
    let client = start(server) { $0.retry = 60...60 }
    client.log("tap")
    await client.feedback(text: "Good")
    _ = await client.flush(timeout: 0.1)
    await client.optOut()
    client.log("more")
    await client.shutdown()
    XCTAssertEqual(files, ["opted-out.value", "sequence"])
    let next = start(server)
    await next.stored()
    XCTAssertNil(next.log("more"))
    await next.flush()
    XCTAssertEqual(server.rows.count, 0)
    await next.optIn()
    next.log("again")
    await next.flush()
    XCTAssertEqual(server.events, ["again"])
    await next.shutdown()
  }

  func testFeedbackIsKeptWithItsImagesUntilItHasArrived() async {
    let server = FakeServer()
    let client = start(server) {
      $0.device = ["build_host": "h"]
      $0.retry = 60...60
    }
    server.add(.unreachable)
    let image = Attachment(data: Data("image\r\n\n".utf8), name: "a\"b.png", type: "image/png")
    let receipt = await client.feedback(text: "It \"broke\".", attachments: [image])
    XCTAssertTrue(receipt.isKept)
    let empty = await client.feedback(text: "")
    XCTAssertFalse(empty.isKept)
    await client.shutdown(timeout: 0)
    let next = start(server)
    let left = await next.flush()
    XCTAssertEqual(left, 0)
    let form = server.feedback.last ?? ""
    for part in [
      "name=\"payload\"\r\n\r\n{", "\"text\":\"It \\\"broke\\\".\"", "\"id\":\"\(receipt.id)\"",
      "\"build_host\":\"h\"", "filename=\"ab.png\"\r\nContent-Type: image/png\r\n\r\nimage\r\n\n\r\n",
    ] { XCTAssertTrue(form.contains(part), "\(part) is not in \(form)") }
    await next.shutdown()
    XCTAssertFalse(files.contains { $0.hasPrefix("feedback") })
  }

  func testTheOldestLogEventsGiveWayAndFeedbackNever() async {
    let server = FakeServer()
    let client = start(server) { $0.storageEventsMax = 100 }
    server.refuse { _ in 503 }
    await client.feedback(text: "Kept")
    for n in 0..<1000 { client.log("tap", ["n": n]) }
    await client.stored()
    let stats = await client.stats()
    XCTAssertTrue((80...100).contains(stats.pendingLogs), "\(stats.pendingLogs)")
    XCTAssertEqual(stats.pendingFeedback, 1)
    XCTAssertEqual(stats.dropped["queue_full"], 1000 - stats.pendingLogs)
    XCTAssertLessThan(files.count, 20)
    await client.shutdown(timeout: 0)
  }

  func testADirectoryThatCannotBeUsedCostsNothingButTheRestart() async throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let file = directory.appendingPathComponent("file")
    try Data().write(to: file)
    let server = FakeServer()
    let client = start(server, in: file.appendingPathComponent("none"))
    client.log("tap")
    await client.feedback(text: "Good")
    let left = await client.flush()
    XCTAssertEqual(left, 0)
    XCTAssertEqual(server.rows.count + server.feedback.count, 2)
    await client.shutdown()
  }

  func testEventsOfManyThreadsAreAllKept() async {
    let server = FakeServer()
    let client = start(server)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 { group.addTask { for n in 0..<250 { client.log("tap", ["n": task * 250 + n]) } } }
    }
    await client.flush(timeout: 60)
    let numbers = server.rows.compactMap { ($0.log["params"] as? [String: Int])?["n"] }
    XCTAssertEqual(numbers.sorted(), Array(0..<2000))
    await client.shutdown()
  }

  func testTheDeviceKeepsItsUuid() async {
    let server = FakeServer()
    for event in ["a", "b"] {
      let client = start(server) { $0.deviceUuid = nil }
      client.log(event)
      await client.flush()
      await client.shutdown()
    }
    XCTAssertEqual(Set(server.rows.map { $0.batch["device_uuid"] as? String }).count, 1)
    XCTAssertEqual(server.rows.count, 2)
  }
}
