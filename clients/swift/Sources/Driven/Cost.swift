import Foundation
import Intake

/// Prints the CPU time of a call of `log`, without and with storing the event. Measures groups of
/// calls, because the clock is too coarse for a single call.
func measureCost() async {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("intake-cost-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  var options = IntakeOptions(
    url: "http://127.0.0.1:9", apiKey: "ik_cost", bundleIdentifier: "com.example.cost")
  options.directory = directory
  let client = Intake(options)
  let params: [String: Any] = [
    "screen": "cart", "items": 3, "price": 19.99, "from": "search", "isNew": false,
  ]
  var caller: [Double] = []
  var all: [Double] = []
  for _ in 0..<400 {
    let (threadBefore, processBefore) = (cpu(CLOCK_THREAD_CPUTIME_ID), cpu(CLOCK_PROCESS_CPUTIME_ID))
    logMany(client, params)
    caller.append((cpu(CLOCK_THREAD_CPUTIME_ID) - threadBefore) / 25)
    await client.stored()
    all.append((cpu(CLOCK_PROCESS_CPUTIME_ID) - processBefore) / 25)
  }
  for (name, times) in [("log()", caller), ("log() and storing", all)] {
    let sorted = times.sorted()
    let at = { (part: Double) in
      String(format: "%.1f", sorted[Int(Double(sorted.count) * part)])
    }
    print("\(name): median \(at(0.5)) µs, 95 % below \(at(0.95)) µs, 99 % below \(at(0.99)) µs")
  }
  await client.shutdown(timeout: 0)
}

private func logMany(_ client: Intake, _ params: [String: Any]) {
  for _ in 0..<25 { client.log("tap", params) }
}

/// The CPU time that `clock` counts, in microseconds.
private func cpu(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1000
}
