import Foundation
import XCTest

@testable import Intake

/// Tests with files that cannot be read or written for a while. Such a file is replaced by a link
/// to a folder: the link can be deleted, renamed and replaced like a file, but not read or written.
final class BrokenStorageTests: XCTestCase {
  private var directory = FileManager.default.temporaryDirectory
  private var aside = FileManager.default.temporaryDirectory
  private let server = FakeServer()

  override func setUp() {
    let parent = FileManager.default.temporaryDirectory
      .appendingPathComponent("intake-tests-\(UUID().uuidString)")
    directory = parent.appendingPathComponent("client")
    aside = parent.appendingPathComponent("aside")
  }

  override func tearDown() {
    try? FileManager.default.removeItem(at: directory.deletingLastPathComponent())
  }

  private func start(deviceUuid: UUID? = UUID(), isOffline: Bool = false) -> Intake {
    var options = IntakeOptions(
      url: "https://intake.example.com", apiKey: "ik_test", bundleIdentifier: "com.example.app")
    options.directory = directory
    options.deviceUuid = deviceUuid
    options.flushInterval = 3600
    options.retry = isOffline ? 3600...3600 : 0.01...0.05
    if isOffline { server.add(.unreachable) }
    return Intake(options, time: .system, transport: server)
  }

  private func names(_ start: String = "", _ end: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path)
      .filter { $0.hasPrefix(start) && $0.hasSuffix(end) }
  }

  private var segmentNames: [String] {
    get throws { try names().filter { SegmentName(parsing: $0) != nil } }
  }

  private func hide(_ name: String) throws {
    let manager = FileManager.default
    try manager.createDirectory(at: aside, withIntermediateDirectories: true)
    let file = directory.appendingPathComponent(name)
    try manager.moveItem(at: file, to: aside.appendingPathComponent(name))
    try manager.createSymbolicLink(at: file, withDestinationURL: aside)
  }

  private func restore(_ name: String, as newName: String? = nil) throws {
    let file = directory.appendingPathComponent(newName ?? name)
    if rename(aside.appendingPathComponent(name).path, file.path) != 0 { throw FileError.last }
  }

  func testWithoutTheCounterEventsHaveNoNumber() async throws {
    let client = start()
    client.log("first")
    await client.flush(timeout: 10)
    try hide("sequence")
    client.log("second")
    await client.flush(timeout: 10)
    try restore("sequence")
    client.log("third")
    await client.flush(timeout: 10)
    await client.shutdown()
    XCTAssertEqual(server.rows.map { $0.log["sequence"] as? Int }, [1, nil, 2])
  }

  func testASegmentThatCannotBeReadIsKeptAndSentLater() async throws {
    let first = start(isOffline: true)
    first.log("tap")
    await first.shutdown(timeout: 0)
    let name = try XCTUnwrap(segmentNames.first)
    try hide(name)
    let next = start()
    let left = await next.flush(timeout: 0.1)
    XCTAssertEqual(left, 1)
    try restore(name)
    let leftLater = await next.flush(timeout: 60)
    XCTAssertEqual(leftLater, 0)
    XCTAssertEqual(server.events, ["tap"])
    let dropped = await next.stats().dropped
    XCTAssertEqual(dropped, [:])
    await next.shutdown()
  }

  func testASegmentOfAKilledProcessIsKeptIfItCannotBeReadAtTheStart() async throws {
    let killed = start(isOffline: true)
    killed.log("tap")
    await killed.stored()
    let name = try XCTUnwrap(segmentNames.first)
    // Removes the lock, as if the process had been killed: the system releases the locks of a
    // killed process.
    for lock in try names("", ".lock") {
      try FileManager.default.removeItem(at: directory.appendingPathComponent(lock))
    }
    try hide(name)
    let next = start()
    await next.flush(timeout: 0.1)
    try restore(name)
    let left = await next.flush(timeout: 60)
    XCTAssertEqual(left, 0)
    XCTAssertEqual(server.events, ["tap"])
    await next.shutdown()
    await killed.shutdown(timeout: 0)
  }

  func testStoredEventsAreSentInThisRunIfTheirSegmentCannotBeWritten() async throws {
    let intake = start()
    intake.log("stored")
    await intake.stored()
    let name = try XCTUnwrap(segmentNames.first)
    try hide(name)
    intake.log("later")
    await intake.stored()
    let closed = try XCTUnwrap(segmentNames.first { $0.hasPrefix(name.prefix(36)) })
    try restore(name, as: closed)
    let left = await intake.flush(timeout: 60)
    XCTAssertEqual(left, 0)
    XCTAssertEqual(server.events, ["stored", "later"])
    let dropped = await intake.stats().dropped
    XCTAssertEqual(dropped, [:])
    await intake.shutdown()
  }

  func testASegmentThatIsGoneCountsAsSentByAnotherClient() async throws {
    let first = start(isOffline: true)
    first.log("tap")
    await first.shutdown(timeout: 0)
    let name = try XCTUnwrap(segmentNames.first)
    try hide(name)
    let next = start()
    let left = await next.flush(timeout: 0.1)
    XCTAssertEqual(left, 1)
    try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
    let leftLater = await next.flush(timeout: 60)
    XCTAssertEqual(leftLater, 0)
    XCTAssertEqual(server.rows.count, 0)
    let dropped = await next.stats().dropped
    XCTAssertEqual(dropped, [:])
    await next.shutdown()
  }

  func testAFeedbackThatCannotBeReadIsKeptAndSentLater() async throws {
    let first = start(isOffline: true)
    await first.feedback(text: "It broke.")
    await first.shutdown(timeout: 0)
    let sentBefore = server.feedback.count
    let name = try XCTUnwrap(names("feedback-").first)
    try hide(name)
    let next = start()
    let left = await next.flush(timeout: 0.1)
    XCTAssertEqual(left, 1)
    try restore(name)
    let leftLater = await next.flush(timeout: 60)
    XCTAssertEqual(leftLater, 0)
    XCTAssertEqual(server.feedback.count, sentBefore + 1)
    XCTAssertTrue(server.feedback.last?.contains("It broke.") == true)
    await next.shutdown()
  }

  func testAFeedbackThatCanNeverBeReadDoesNotBlockTheNextOne() async throws {
    let first = start(isOffline: true)
    await first.feedback(text: "It broke.")
    await first.feedback(text: "It broke again.")
    await first.shutdown(timeout: 0)
    let sentBefore = server.feedback.count
    let name = try XCTUnwrap(names("feedback-").min())
    try hide(name)
    let next = start()
    let left = await next.flush(timeout: 5)
    XCTAssertEqual(left, 1)
    XCTAssertEqual(server.feedback.count, sentBefore + 1)
    XCTAssertTrue(server.feedback.last?.contains("It broke again.") == true)
    await next.shutdown(timeout: 0)
  }

  func testAnOptOutThatCannotBeReadIsInForce() async throws {
    let first = start()
    await first.optOut()
    await first.shutdown()
    try hide("opted-out.value")
    let next = start()
    let isOptedOut = await next.stats().isOptedOut
    XCTAssertTrue(isOptedOut)
    await next.shutdown()
  }

  func testTheUuidOfADeviceThatCannotBeReadIsNotReplaced() async throws {
    for event in ["a", "b", "c"] {
      if event == "b" { try hide("device.value") }
      let client = start(deviceUuid: nil)
      client.log(event)
      await client.flush(timeout: 60)
      await client.shutdown()
      let type = try FileManager.default.attributesOfItem(
        atPath: directory.appendingPathComponent("device.value").path)[.type]
      let isHidden = type as? FileAttributeType == .typeSymbolicLink
      XCTAssertEqual(isHidden, event == "b")
      if isHidden { try restore("device.value") }
    }
    let uuids = server.rows.map { $0.batch["device_uuid"] as? String }
    XCTAssertEqual(uuids.count, 3)
    XCTAssertEqual(uuids.first, uuids.last)
    XCTAssertEqual(Set(uuids).count, 2)
  }

  func testCountsOfDropsThatCannotBeReadAreAddedLater() async throws {
    let first = start()
    first.log("")
    await first.stored()
    await first.shutdown()
    try hide("dropped.value")
    let next = start()
    next.log("")
    await next.stored()
    try restore("dropped.value")
    next.log("tap")
    await next.flush(timeout: 60)
    await next.flush(timeout: 60)
    XCTAssertEqual(server.events, ["tap", "intake.dropped"])
    XCTAssertEqual(server.rows.last?.log["params"] as? [String: Int], ["invalid_event": 2])
    await next.shutdown()
  }
}
