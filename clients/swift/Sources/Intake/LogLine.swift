/// An event as JSON, in one line.
typealias Line = [UInt8]

let lineStart = "{\"id\":\""
private let idLength = 36

/// Prints an event without its closing brace.
///
/// - Parameters:
/// - params: as JSON
/// - deviceMs: the time of the device's clock if it differs from the time in the id; otherwise nil
func printLine(id: String, event: String, params: [UInt8], deviceMs: Double?) -> Line {
  var line = Array(lineStart.utf8)
  line.reserveCapacity(params.count + 160)
  line += id.utf8
  line += "\",\"event\":".utf8
  line += Json.print(event)
  line += ",\"params\":".utf8
  line += params
  if let deviceMs { line += printTimestamp(Int(deviceMs)) }
  return line
}

func closeLine(_ line: Line, sequence: Int?) -> Line {
  guard let sequence else { return line + "}".utf8 }
  return line + ",\"sequence\":\(sequence)}".utf8
}

func idOf(_ line: some RandomAccessCollection<UInt8>) -> some Collection<UInt8> {
  line.dropFirst(lineStart.utf8.count).prefix(idLength)
}

/// Shifts the time in the event's id by `ms`. An event without a timestamp gets one: the id's time
/// before the shift, which is the time of the device's clock.
func shiftLine(_ line: Line, by ms: Int, hasTimestamp: Bool) -> Line {
  if ms == 0 { return line }
  let id = idOf(line)
  var shifted = Array(lineStart.utf8) + shiftUuid(id, by: ms)
  shifted += line.dropFirst(lineStart.utf8.count + idLength).dropLast()
  if !hasTimestamp { shifted += printTimestamp(timeOfUuid(id)) }
  shifted.append(UInt8(ascii: "}"))
  return shifted
}

private func printTimestamp(_ ms: Int) -> String.UTF8View {
  ",\"timestamp\":\"\(printTime(max(ms, 0)))\"".utf8
}
