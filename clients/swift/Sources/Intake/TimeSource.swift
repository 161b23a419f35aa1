import Foundation

/// The clocks of a device, in milliseconds.
package struct TimeSource: Sendable {
  /// Milliseconds since 1970.
  package let now: @Sendable () -> Double
  /// Milliseconds since a moment that does not change while the process runs. The time during which
  /// the device sleeps counts too.
  package let monotonic: @Sendable () -> Double

  package init(
    now: @escaping @Sendable () -> Double,
    monotonic: @escaping @Sendable () -> Double
  ) {
    self.now = now
    self.monotonic = monotonic
  }

  package static let system = TimeSource(
    now: { readClock(CLOCK_REALTIME) },
    monotonic: { readClock(withSleepClock) }
  )
}

#if canImport(Darwin)
  private let withSleepClock = CLOCK_MONOTONIC
#else
  private let withSleepClock = CLOCK_BOOTTIME
#endif

private func readClock(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
}

/// Returns a time, in milliseconds since 1970, as text such as `2026-11-21T12:00:00.000Z`.
func printTime(_ ms: Int) -> String {
  var seconds = time_t(ms / 1000)
  var parts = tm()
  gmtime_r(&seconds, &parts)
  return String(
    format: "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", Int(parts.tm_year) + 1900,
    Int(parts.tm_mon) + 1, Int(parts.tm_mday), Int(parts.tm_hour), Int(parts.tm_min),
    Int(parts.tm_sec), ms % 1000)
}

private let months = [
  "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]

/// Parses the date of a header field, such as `Sat, 21 Nov 2026 12:00:00 GMT`, to milliseconds
/// since 1970.
func parseHttpDate(_ text: String) -> Double? {
  let parts = text.split(separator: " ")
  guard parts.count == 6, let day = Int32(parts[1]), let year = Int32(parts[3]),
    let month = months.firstIndex(of: String(parts[2]))
  else { return nil }
  return time(year, Int32(month), day, clock: parts[4])
}

/// Parses a time in the form that `printTime` prints, to milliseconds since 1970.
func parseTime(_ text: String) -> Double? {
  let parts = text.split(separator: "T")
  let date = parts.first?.split(separator: "-").compactMap { Int32($0) } ?? []
  guard parts.count == 2, date.count == 3, text.hasSuffix("Z") else { return nil }
  return time(date[0], date[1] - 1, date[2], clock: parts[1].dropLast())
}

/// The milliseconds since 1970 of a date and time in UTC.
///
/// - Parameter clock: the time of the day, such as `12:00:00` or `12:00:00.123`
private func time(_ year: Int32, _ month: Int32, _ day: Int32, clock: Substring) -> Double? {
  let fields = clock.split(separator: ":")
  guard fields.count == 3, let hour = Int32(fields[0]), let minute = Int32(fields[1]),
    let second = Double(fields[2])
  else { return nil }
  var parts = tm()
  (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month, day)
  (parts.tm_hour, parts.tm_min) = (hour, minute)
  return Double(timegm(&parts)) * 1000 + (second * 1000).rounded()
}
