import Foundation

/// Stores the records that wait to be sent. If the directory is full, forbidden or broken, keeps
/// new records in memory instead. A failed read throws, so that it is never mistaken for a missing
/// record. Only one thread uses this class.
final class Storage {
  enum Renamed {
    case done
    /// The name does not exist.
    case gone
    case failed
  }

  private static let valueEnd = ".value"
  private let files: Files
  private var memory: [String: Data] = [:]

  init(_ files: Files) {
    self.files = files
  }

  /// Lists the names of segments, except those of other running clients, and the keys of values.
  func list() -> (names: [SegmentName], keys: [String]) {
    let stored = try? files.list { SegmentName(parsing: $0)?.run }
    let all = (stored ?? []) + memory.keys
    let keys = all.filter { $0.hasSuffix(Self.valueEnd) }
    return (
      all.sorted().compactMap(SegmentName.init(parsing:)),
      keys.map { String($0.dropLast(Self.valueEnd.count)) }.sorted()
    )
  }

  /// - Returns: nil if the name does not exist
  func read(_ name: String) throws -> Data? {
    if let data = memory[name] { return data }
    return try files.read(name)
  }

  /// Appends bytes to the file with this name; creates the file if `isNew`.
  ///
  /// - Returns: false, without storing the bytes, if the file is not new and is missing
  /// - Throws: without storing the bytes, if the file is not new and cannot be written
  func append(_ bytes: [UInt8], to name: String, isNew: Bool) throws -> Bool {
    if memory[name] != nil && !isNew {
      memory[name]?.append(contentsOf: bytes)
      return true
    }
    do {
      return try files.append(bytes, to: name, isNew: isNew)
    } catch where isNew {
      memory[name] = Data(bytes)
      return true
    }
  }

  func rename(_ from: String, to: String) -> Renamed {
    if let data = memory.removeValue(forKey: from) {
      memory[to] = data
      return .done
    }
    guard let isThere = try? files.rename(from, to: to) else { return .failed }
    return isThere ? .done : .gone
  }

  func remove(_ name: String) {
    if memory.removeValue(forKey: name) == nil { files.remove(name) }
  }

  /// Makes a segment survive a power failure, if storage works.
  func sync(_ name: String) {
    if memory[name] == nil { try? files.sync(name) }
  }

  /// Makes renames survive a power failure, if storage works.
  func syncNames() {
    try? files.syncNames()
  }

  /// Reserves `count` numbers of the device's counter of events. Returns the first reserved number,
  /// or nil if the counter cannot be read or written.
  func takeNumbers(_ count: Int) -> Int? { try? files.takeNumbers(count) }

  func value(_ key: String) throws -> Data? { try read(key + Self.valueEnd) }

  /// Whether there is a value for the key, even one that cannot be read now.
  func hasValue(_ key: String) -> Bool {
    memory[key + Self.valueEnd] != nil || files.exists(key + Self.valueEnd)
  }

  func setValue(_ value: Data, for key: String) {
    let name = key + Self.valueEnd
    memory[name] = nil
    do {
      try files.replace(name, with: value)
    } catch {
      memory[name] = value
    }
  }

  func removeValue(_ key: String) {
    memory[key + Self.valueEnd] = nil
    files.remove(key + Self.valueEnd)
  }

  func close() {
    files.close()
  }
}
