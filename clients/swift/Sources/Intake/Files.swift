import Foundation

/// The error of a failed system call.
struct FileError: Error {
  let code: Int32

  static var last: FileError { FileError(code: errno) }
  var isAbsent: Bool { code == ENOENT }
}

/// The files of a directory. Only one thread may use an object.
final class Files {
  private static let temporaryEnd = ".new"
  private static let lockEnd = ".lock"
  private static let sequenceName = "sequence"
  private static let digits = 16
  private let directory: URL
  /// The id of this run of the client, a UUID. The name of the lock file contains it, because other
  /// clients may use the same directory at the same time.
  private let run: String
  private var lock: Int32 = -1
  private var isReady = false

  init(_ directory: URL, run: String) {
    self.directory = directory
    self.run = run
  }

  private func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  /// Creates the directory, and a lock that shows other processes that this client is running.
  private func prepare() throws {
    if isReady { return }
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    protectDirectory(directory)
    let name = path(run + Self.lockEnd)
    repeat {
      close()
      lock = try openFile(name, O_RDWR | O_CREAT)
      if flock(lock, LOCK_EX) != 0 { throw FileError.last }
      // Repeats this if the lock file is gone. Before this process locked the file, another process
      // may have taken it for the lock of an ended client, and removed it.
    } while linkCount(lock) == 0
    isReady = true
  }

  /// Releases the lock, so that other clients may take over the remaining files.
  func close() {
    if lock < 0 { return }
    unlink(path(run + Self.lockEnd))
    _ = Foundation.close(lock)
    lock = -1
  }

  /// The names of all files, except the counter, locks, temporary files, and files of other running
  /// clients.
  ///
  /// - Parameter runOf: returns the run to which a name belongs; nil if it belongs to none
  func list(runOf: (String) -> String?) throws -> [String] {
    try prepare()
    var living: [String: Bool] = [:]
    var names: [String] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      if name.hasSuffix(Self.lockEnd) {
        let other = String(name.dropLast(Self.lockEnd.count))
        // Other programs may have files with the same ending. They must stay.
        if isUuid(other) { _ = lives(other, &living) }
      } else if name != Self.sequenceName && !name.hasSuffix(Self.temporaryEnd) {
        if let owner = runOf(name), lives(owner, &living) { continue }
        names.append(name)
      }
    }
    return names
  }

  private func lives(_ other: String, _ living: inout [String: Bool]) -> Bool {
    if other == run { return false }
    if let known = living[other] { return known }
    let name = path(other + Self.lockEnd)
    guard let file = try? openFile(name, O_RDWR) else { return false }
    defer { _ = Foundation.close(file) }
    let isFree = flock(file, LOCK_EX | LOCK_NB) == 0
    if isFree { unlink(name) }
    living[other] = !isFree
    return !isFree
  }

  func exists(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

  func read(_ name: String) throws -> Data? {
    do {
      return try Data(contentsOf: directory.appendingPathComponent(name))
    } catch {
      // The file may exist although it cannot be reached now, for example because of too many links.
      if exists(name) || (errno != ENOENT && errno != ENOTDIR) { throw error }
      return nil
    }
  }

  /// Appends all bytes or none. The bytes survive the end of the process. After `sync` they also
  /// survive a power failure.
  ///
  /// - Returns: false if `name` should exist but does not, because another client has renamed it
  func append(_ bytes: [UInt8], to name: String, isNew: Bool) throws -> Bool {
    try prepare()
    let flags = O_WRONLY | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0)
    let file: Int32
    do {
      file = try openFile(path(name), flags)
    } catch let error as FileError where error.isAbsent && !isNew {
      return false
    }
    defer { _ = Foundation.close(file) }
    let before = isNew ? 0 : lseek(file, 0, SEEK_END)
    do {
      try writeAll(bytes, to: file)
    } catch {
      if isNew { unlink(path(name)) } else { ftruncate(file, before) }
      throw error
    }
    return true
  }

  /// Renames a file.
  ///
  /// - Returns: false if `from` does not exist
  func rename(_ from: String, to: String) throws -> Bool {
    if Foundation.rename(path(from), path(to)) == 0 { return true }
    let error = FileError.last
    if error.isAbsent { return false }
    throw error
  }

  func remove(_ name: String) {
    unlink(path(name))
  }

  /// Replaces a file in one step, and makes its content survive a power failure.
  func replace(_ name: String, with bytes: Data) throws {
    try prepare()
    let temporary = name + Self.temporaryEnd
    do {
      let file = try openFile(path(temporary), O_WRONLY | O_CREAT | O_TRUNC)
      defer { _ = Foundation.close(file) }
      try writeAll(bytes, to: file)
      if fsync(file) != 0 { throw FileError.last }
      _ = try rename(temporary, to: name)
    } catch {
      unlink(path(temporary))
      throw error
    }
    try syncNames()
  }

  /// Makes a file and its name survive a power failure.
  func sync(_ name: String) throws {
    let file = try openFile(path(name), O_RDONLY)
    defer { _ = Foundation.close(file) }
    if fsync(file) != 0 { throw FileError.last }
    try syncNames()
  }

  /// Makes new names survive a power failure.
  func syncNames() throws {
    let file = try openFile(directory.path, O_RDONLY)
    defer { _ = Foundation.close(file) }
    if fsync(file) != 0 { throw FileError.last }
  }

  /// Reserves numbers of the device's counter, which starts at 1. Returns the first one. After a
  /// power failure, numbers may be used twice.
  func takeNumbers(_ count: Int) throws -> Int {
    try prepare()
    let file = try openFile(path(Self.sequenceName), O_RDWR | O_CREAT)
    defer { _ = Foundation.close(file) }
    if flock(file, LOCK_EX) != 0 { throw FileError.last }
    var text = [UInt8](repeating: 0, count: Self.digits)
    let length = pread(file, &text, text.count, 0)
    if length < 0 { throw FileError.last }
    let last = Int(String(decoding: text.prefix(length), as: UTF8.self)) ?? 0
    let next = String(last + count)
    let padded = Array((String(repeating: "0", count: max(Self.digits - next.count, 0)) + next).utf8)
    if pwrite(file, padded, padded.count, 0) != padded.count { throw FileError.last }
    return last + 1
  }

  private func openFile(_ path: String, _ flags: Int32) throws -> Int32 {
    let file = open(path, flags | O_CLOEXEC, 0o600)
    if file < 0 { throw FileError.last }
    return file
  }

  private func linkCount(_ file: Int32) -> Int {
    var status = stat()
    return fstat(file, &status) == 0 ? Int(status.st_nlink) : 0
  }

  private func writeAll(_ bytes: some ContiguousBytes, to file: Int32) throws {
    try bytes.withUnsafeBytes { buffer in
      var at = 0
      while at < buffer.count {
        let count = write(file, buffer.baseAddress! + at, buffer.count - at)
        if count > 0 {
          at += count
        } else if errno != EINTR {
          throw FileError.last
        }
      }
    }
  }
}

/// Makes the directory readable from the first unlock of the device on, so that an app that starts
/// in the background can send. Excludes it from backups, so that a device to which a backup is
/// restored does not get the same UUID.
private func protectDirectory(_ directory: URL) {
  #if canImport(Darwin)
    var url = directory
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    // Ignores errors. After an error, the directory is protected like all other files of the app.
    try? url.setResourceValues(values)
    #if !os(macOS)
      try? FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
        ofItemAtPath: directory.path)
    #endif
  #endif
}
