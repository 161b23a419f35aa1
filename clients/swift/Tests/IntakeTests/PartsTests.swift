import Foundation
import XCTest

@testable import Intake

private let dayMs = 86_400_000.0

final class PartsTests: XCTestCase {
  func testUuidsAscendAndHaveTheirTime() {
    var uuids = Uuids()
    let ids = (0..<5000).map { _ in uuids.next(at: 1_795_262_400_000) }
    XCTAssertEqual(ids, ids.sorted())
    XCTAssertEqual(Set(ids).count, 5000)
    XCTAssertTrue(ids.allSatisfy { UUID(uuidString: $0) != nil && Array($0)[14] == "7" })
    XCTAssertTrue(ids.allSatisfy { "89ab".contains(Array($0)[19]) })
    XCTAssertEqual(timeOfUuid(ids[0].utf8), 1_795_262_400_000)
    let shifted = String(decoding: shiftUuid(ids[0].utf8, by: -1000), as: UTF8.self)
    XCTAssertEqual(timeOfUuid(shifted.utf8), 1_795_262_399_000)
    XCTAssertEqual(shifted.dropFirst(13), ids[0].dropFirst(13))
  }

  func testTimesAreReadAndPrinted() {
    XCTAssertEqual(printTime(1_795_262_400_123), "2026-11-21T12:00:00.123Z")
    XCTAssertEqual(parseTime("2026-11-21T12:00:00.123Z"), 1_795_262_400_123)
    XCTAssertEqual(parseHttpDate("Sat, 21 Nov 2026 12:00:00 GMT"), 1_795_262_400_000)
    XCTAssertNil(parseHttpDate("yesterday"))
  }

  func testParamsAreJson() throws {
    let none: Int? = nil
    let params: [String: Any] = [
      "text": "ü😀\n\"\\\u{1}", "int": Int.max, "small": Int8(-1), "big": UInt64.max, "double": 19.99,
      "float": Float(0.1), "true": true, "false": false, "list": [1, "a", NSNull()] as [Any],
      "deep": ["list": [1.5]], "none": none as Any, "some": Optional(1) as Any,
      "infinite": Double.infinity, "decimal": Decimal(string: "1.10")!,
      "number": NSNumber(value: true), "date": Date(timeIntervalSince1970: 0.5),
      "id": UUID(uuidString: "BD9C40F6-2F4F-4B8A-9D3B-7D3A4F1C2E10")!,
    ]
    let text = try XCTUnwrap(Json.print(params))
    let read = Json.parseObject(Data(text))
    XCTAssertEqual(read["text"] as? String, "ü😀\n\"\\\u{1}")
    XCTAssertEqual(read["int"] as? Int, Int.max)
    XCTAssertEqual(read["small"] as? Int, -1)
    XCTAssertEqual(read["big"] as? UInt64, UInt64.max)
    XCTAssertEqual(read["double"] as? Double, 19.99)
    XCTAssertEqual(read["true"] as? Bool, true)
    XCTAssertEqual((read["deep"] as? [String: [Double]]), ["list": [1.5]])
    XCTAssertEqual(read["some"] as? Int, 1)
    XCTAssertEqual(read["date"] as? String, "1970-01-01T00:00:00.500Z")
    XCTAssertEqual(read["id"] as? String, "bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10")
    let printed = String(decoding: text, as: UTF8.self)
    for part in [
      "\"float\":0.1", "\"false\":false", "\"none\":null", "\"infinite\":null", "\"decimal\":1.1",
      "\"number\":true", "\\u0001", "[1,\"a\",null]",
    ] { XCTAssertTrue(printed.contains(part), "\(part) is not in \(printed)") }
    let object = try XCTUnwrap(Json.print(["object": NSObject(), "kept": 1]))
    XCTAssertTrue(String(decoding: object, as: UTF8.self).contains("\"kept\":1"))
  }

  func testAClockIsCorrectedOnlyIfItIsWrong() {
    for ahead in [3 * dayMs, -3 * dayMs, 120_000] {
      let device = Device(ahead: ahead)
      let early = device.clock.era
      XCTAssertEqual(device.clock.shift(for: early, isOfThisRun: true), 0, "nothing is known yet")
      device.answer()
      XCTAssertEqual(device.clock.shift(for: early, isOfThisRun: true), Int(-ahead))
      XCTAssertEqual(device.clock.shift(for: early, isOfThisRun: false), Int(-ahead))
      XCTAssertEqual(device.clock.now(), device.trueNow)
      XCTAssertEqual(device.clock.shift(for: device.clock.era, isOfThisRun: true), 0)
    }
    let device = Device(ahead: 50_000)
    let early = device.clock.era
    device.answer()
    XCTAssertEqual(device.clock.shift(for: early, isOfThisRun: true), 0, "less than a minute is left")
  }

  func testAClockThatIsSetRightMeanwhileCostsNothing() {
    let device = Device(ahead: 3 * dayMs)
    let early = device.clock.era
    device.host.withLock {
      $0.elapsed += 10_000
      $0.ahead = 0
    }
    _ = device.clock.now()
    let late = device.clock.era
    device.answer()
    XCTAssertEqual(device.clock.shift(for: early, isOfThisRun: true), Int(-3 * dayMs))
    XCTAssertEqual(device.clock.shift(for: late, isOfThisRun: true), 0)
    XCTAssertEqual(device.clock.now(), device.trueNow)
  }

  func testNamesOfSegmentsAreReadBack() {
    let name = SegmentName(
      key: "01a1fdfa-4600-75d0-9b9b-4b35b7cf1d1001", generation: 2, state: .attempted,
      run: "01a1fdfa-4600-75d0-9b9b-4b35b7cf1d11", count: 3, bytes: 4,
      shiftMs: -259_200_000)
    XCTAssertEqual(SegmentName(parsing: name.text), name)
    for text in ["device.value", "sequence", "a.b.c.d.e.f.g", "a.1.9.d.1.1.1"] {
      XCTAssertNil(SegmentName(parsing: text))
    }
  }

  func testWhatTheFailureOfThePowerLeftIsNotSent() {
    let head = StoredSegment.head(
      .init(era: Era(drift: 1.5, offset: 0, isTrusted: true), run: "r"), sender: Array("{}".utf8))
    let line = "{\"id\":\"01a1fdfa-4600-75d0-9b9b-4b35b7cf1d10\"}"
    let lines = "\(line)\n\0\0\0\n\(line)\n\(line.dropLast())".utf8
    let stored = StoredSegment(parsing: Data(head + lines))
    XCTAssertEqual(stored?.lines.count, 2)
    XCTAssertEqual(stored?.origin.era.drift, 1.5)
    XCTAssertNil(StoredSegment(parsing: Data(lines)))
    XCTAssertNil(StoredSegment(parsing: Data()))
  }

  func testOnlyClientsThatEndedAreTakenOver() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("intake-tests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let first = Files(directory, run: "first")
    let second = Files(directory, run: "second")
    XCTAssertTrue(try first.append([1], to: "first", isNew: true))
    XCTAssertFalse(try first.append([1], to: "absent", isNew: false))
    XCTAssertThrowsError(try first.append([1], to: "first", isNew: true))
    XCTAssertEqual(try second.list { $0 }, [])
    XCTAssertEqual(try first.list { $0 }, ["first"])
    first.close()
    XCTAssertEqual(try second.list { $0 }, ["first"])
    XCTAssertTrue(try second.rename("first", to: "mine"))
    XCTAssertFalse(try first.rename("first", to: "mine"))
    XCTAssertEqual(try [second.takeNumbers(5), first.takeNumbers(1)], [1, 6])
  }

  func testWhatIsOlderThanDroppedEventsIsDroppedToo() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("intake-tests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    var options = IntakeOptions(
      url: "https://intake.example.com", apiKey: "ik_test", bundleIdentifier: "com.example.app")
    options.storageEventsMax = 100
    let recorder = Recorder(options, time: .system)
    let run = recorder.newId()
    let queue = LogQueue(
      options, storage: Storage(Files(directory, run: run)), recorder: recorder, run: run,
      senderOf: { _ in Array("{}".utf8) })
    // In the second step, memory gets full before any event is stored, as with slow storage.
    for numbers in [0..<5, 5..<300] {
      for n in numbers { _ = recorder.log("tap", ["n": n]) }
      queue.store(recorder.take())
    }
    queue.close()
    var kept: [Int?] = []
    while let segment = queue.oldest, let stored = try queue.attempt(segment) {
      for line in stored.lines {
        kept.append((Json.parseObject(Data(line))["params"] as? [String: Int])?["n"])
      }
      queue.replace(segment)
    }
    XCTAssertEqual(kept, Array(205..<300))
    XCTAssertEqual(recorder.drops.total, ["queue_full": 205])
  }

  func testAShutdownWhileARequestStartsDoesNotEndTheProcess() async {
    for _ in 0..<300 {
      let transport = HttpTransport(url: "http://127.0.0.1:9", apiKey: "ik_test")
      let request = OutgoingRequest(
        path: "/log/batch", contentType: "application/json", body: Data(), timeout: 5)
      _ = await transport.send(request)
      let sending = Task.detached { await transport.send(request) }
      await Task.yield()
      transport.close()
      let answer = await sending.value
      XCTAssertNil(answer)
    }
  }

  func testThePrefixOfPaths() {
    XCTAssertEqual(prefixOf("https://a.example"), "https://a.example/api")
    XCTAssertEqual(prefixOf("https://a.example//"), "https://a.example/api")
    XCTAssertEqual(prefixOf("https://a.example/i/"), "https://a.example/i")
  }

  func testAUserIsCutToWhatTheGatewayTakes() {
    XCTAssertEqual(validUser(nil), "")
    XCTAssertEqual(validUser(String(repeating: "ü", count: 300)).utf16.count, 255)
  }

  func testANameThatARuleDropsIsLeftOutForFiveMinutesThenOneEventAsks() {
    var names = DroppedNames()
    for _ in 1...20 {
      XCTAssertFalse(names.leavesOut("noise", at: 0))
      names.learn("noise", isDropped: true, at: 0)
    }
    XCTAssertTrue(names.leavesOut("noise", at: 299_000))
    XCTAssertFalse(names.leavesOut("tap", at: 299_000))
    XCTAssertFalse(names.leavesOut("noise", at: 301_000))
    XCTAssertTrue(names.leavesOut("noise", at: 302_000))
    XCTAssertFalse(names.leavesOut("noise", at: -400_000), "the clock was set back")
    names.learn("noise", isDropped: false, at: 303_000)
    XCTAssertFalse(names.leavesOut("noise", at: 303_000))
  }
}

/// A device with a clock that can be wrong.
private final class Device {
  struct Host {
    var elapsed = 0.0
    var ahead: Double
  }
  let host: Locked<Host>
  var clock: Clock

  init(ahead: Double) {
    let host = Locked(Host(ahead: ahead))
    self.host = host
    clock = Clock(
      TimeSource(
        now: { host.withLock { 1_795_262_400_000 + $0.elapsed + $0.ahead } },
        monotonic: { host.withLock { $0.elapsed } }))
  }

  var trueNow: Double { host.withLock { 1_795_262_400_000 + $0.elapsed } }

  func answer() { clock.observe(serverMs: trueNow, roundTripMs: 0) }
}
