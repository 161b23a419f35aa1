import Foundation

/// Makes ascending UUIDv7. Within a millisecond, the twelve bits after the version count up.
struct Uuids {
  /// If the clock goes back by more than this, someone has set it. New ids then contain the earlier
  /// time.
  private static let backMsMax = 2000
  private static let counterMax: UInt16 = 0xfff
  private var last = 0
  private var counter: UInt16 = 0
  private var random = SystemRandomNumberGenerator()

  /// - Parameter timeMs: milliseconds since 1970
  mutating func next(at timeMs: Double) -> String {
    let now = max(Int(timeMs), 0)
    let bits = random.next()
    if now > last || now < last - Self.backMsMax {
      last = now
      // Starts in the lower half of the range, so that the upper half is left for counting.
      counter = UInt16(truncatingIfNeeded: random.next() as UInt32) & 0x7ff
    } else if counter == Self.counterMax {
      counter = 0
      last += 1
    } else {
      counter += 1
    }
    let high = UInt64(last) << 16 | 0x7000 | UInt64(counter)
    return printUuid(high: high, low: bits & ~(0b11 << 62) | 0b10 << 62)
  }
}

private let hexDigits = Array("0123456789abcdef".utf8)

private func printUuid(high: UInt64, low: UInt64) -> String {
  String(unsafeUninitializedCapacity: 36) { text in
    var at = 0
    for digit in 0..<32 {
      if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
        text[at] = UInt8(ascii: "-")
        at += 1
      }
      let bits = digit < 16 ? high >> UInt64(60 - digit * 4) : low >> UInt64(124 - digit * 4)
      text[at] = hexDigits[Int(bits & 0xf)]
      at += 1
    }
    return at
  }
}

func isUuid(_ text: String) -> Bool { UUID(uuidString: text) != nil }

/// The time inside a UUIDv7, in milliseconds since 1970.
func timeOfUuid(_ id: some Collection<UInt8>) -> Int {
  var time = 0
  for digit in id.prefix(13) where digit != UInt8(ascii: "-") {
    let value = digit <= UInt8(ascii: "9") ? digit &- 48 : (digit | 0x20) &- 87
    time = time << 4 | Int(value & 0xf)
  }
  return time
}

/// Returns the same UUIDv7 with its time shifted by `ms`.
func shiftUuid(_ id: some Collection<UInt8>, by ms: Int) -> [UInt8] {
  let time = UInt64(max(timeOfUuid(id) + ms, 0))
  return Array(printUuid(high: time << 16, low: 0).utf8.prefix(13)) + id.dropFirst(13)
}
