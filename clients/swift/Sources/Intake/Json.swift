import Foundation

/// Prints and parses JSON as UTF-8. Does not use `JSONSerialization` for printing, because it would
/// make `log` slow.
enum Json {
  /// The maximum nesting of a value. Without a limit, printing a Foundation dictionary that
  /// contains itself would never end.
  /// The gateway refuses a request that is nested by more than 32.
  private static let depthMax = 25

  /// Prints an object.
  ///
  /// Values that JSON cannot represent become text.
  ///
  /// - Returns: nil if the object is nested too deeply
  static func print(_ object: [String: Any]) -> [UInt8]? {
    var out: [UInt8] = []
    out.reserveCapacity(128)
    return append(object, to: &out, depth: 0) ? out : nil
  }

  static func print(_ text: String) -> [UInt8] {
    var out: [UInt8] = []
    append(text, to: &out)
    return out
  }

  /// Prints an object whose values are already JSON.
  static func print(parts: [String: [UInt8]]) -> [UInt8] {
    var out = [UInt8(ascii: "{")]
    for (name, value) in parts.sorted(by: { $0.key < $1.key }) {
      if out.count > 1 { out.append(UInt8(ascii: ",")) }
      append(name, to: &out)
      out.append(UInt8(ascii: ":"))
      out += value
    }
    out.append(UInt8(ascii: "}"))
    return out
  }

  /// Parses a JSON object.
  ///
  /// - Returns: an empty object if the data is not a JSON object, such as a network's login page
  static func parseObject(_ data: Data) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
  }

  /// - Returns: false if the value is nested too deeply, or is not part of an object and JSON cannot
  /// represent it
  static func append(_ value: Any, to out: inout [UInt8], depth: Int = 0) -> Bool {
    if depth > depthMax { return false }
    let kind = type(of: value)
    if kind == String.self {
      append(value as! String, to: &out)
    } else if kind == Int.self {
      out += (value as! Int).description.utf8
    } else if kind == Bool.self {
      out += (value as! Bool ? "true" : "false").utf8
    } else if kind is NSNumber.Type {
      append(value as! NSNumber, to: &out)
    } else {
      return appendOther(value, to: &out, depth: depth)
    }
    return true
  }

  private static func appendOther(_ value: Any, to out: inout [UInt8], depth: Int) -> Bool {
    switch value {
    case let number as Double: append(number, to: &out)
    case let number as Float: out += (number.isFinite ? number.description : "null").utf8
    case let object as [String: Any]: return append(object, to: &out, depth: depth)
    case let list as [Any]: return append(list, to: &out, depth: depth)
    case let text as String: append(text, to: &out)
    case let number as any FixedWidthInteger: out += number.description.utf8
    case let number as Decimal: out += (number.isNaN ? "null" : number.description).utf8
    case let date as Date:
      let ms = (date.timeIntervalSince1970 * 1000).rounded(.down)
      if ms >= 0, let whole = Int(exactly: ms) {
        append(printTime(whole), to: &out)
      } else {
        append(String(describing: date), to: &out)
      }
    case let id as UUID: append(id.uuidString.lowercased(), to: &out)
    case let url as URL: append(url.absoluteString, to: &out)
    case is NSNull: out += "null".utf8
    case let optional as any AnyOptional:
      guard let wrapped = optional.wrapped else {
        out += "null".utf8
        return true
      }
      return append(wrapped, to: &out, depth: depth + 1)
    default:
      if depth == 0 { return false }
      append(String(describing: value), to: &out)
    }
    return true
  }

  private static func append(_ object: [String: Any], to out: inout [UInt8], depth: Int) -> Bool {
    out.append(UInt8(ascii: "{"))
    var isFirst = true
    for (name, value) in object {
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      append(name, to: &out)
      out.append(UInt8(ascii: ":"))
      if !append(value, to: &out, depth: depth + 1) { return false }
    }
    out.append(UInt8(ascii: "}"))
    return true
  }

  private static func append(_ list: [Any], to out: inout [UInt8], depth: Int) -> Bool {
    out.append(UInt8(ascii: "["))
    var isFirst = true
    for value in list {
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      if !append(value, to: &out, depth: depth + 1) { return false }
    }
    out.append(UInt8(ascii: "]"))
    return true
  }

  /// Prints a number. JSON has neither infinity nor NaN, so they become null, as in JavaScript.
  private static func append(_ number: Double, to out: inout [UInt8]) {
    out += (number.isFinite ? number.description : "null").utf8
  }

  /// `NSNumber` is Foundation's class for numbers and booleans; its type code distinguishes them.
  private static func append(_ number: NSNumber, to out: inout [UInt8]) {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): out += (number.boolValue ? "true" : "false").utf8
    case UInt8(ascii: "d"), UInt8(ascii: "f"): append(number.doubleValue, to: &out)
    case UInt8(ascii: "Q"): out += number.uint64Value.description.utf8
    default: out += number.int64Value.description.utf8
    }
  }

  private static func append(_ text: String, to out: inout [UInt8]) {
    var text = text
    out.append(UInt8(ascii: "\""))
    text.withUTF8 { bytes in
      var from = 0
      for at in bytes.indices {
        let byte = bytes[at]
        if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") { continue }
        out.append(contentsOf: bytes[from..<at])
        out += escape(byte).utf8
        from = at + 1
      }
      out.append(contentsOf: bytes[from...])
    }
    out.append(UInt8(ascii: "\""))
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\""): return "\\\""
    case UInt8(ascii: "\\"): return "\\\\"
    case UInt8(ascii: "\n"): return "\\n"
    default: return "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
  }
}

private protocol AnyOptional {
  var wrapped: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var wrapped: Any? { self }
}
