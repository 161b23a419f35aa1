import Foundation

/// The feedback that waits to be sent. Each feedback is one value in storage, with its attachments.
/// Log events never displace it.
final class Feedbacks {
  private final class Entry: Waiting {
    let key: String

    init(key: String, failures: Int = 0) {
      self.key = key
      super.init(failures: failures)
    }
  }

  private static let prefix = "feedback-"
  private let storage: Storage
  private let drops: Drops
  private var entries: [Entry] = []

  init(storage: Storage, drops: Drops) {
    self.storage = storage
    self.drops = drops
  }

  var count: Int { entries.count }
  var canSend: Bool { oldest != nil }
  private var oldest: Entry? { entries.next }

  /// Stores a feedback, to be sent later.
  ///
  /// - Returns: false if too much feedback waits already
  func add(_ id: String, _ feedback: StoredFeedback) -> Bool {
    if entries.count >= Limits.feedback { return false }
    let key = Self.prefix + id
    storage.setValue(feedback.print(), for: key)
    entries.append(Entry(key: key))
    return true
  }

  /// Takes over feedback of earlier runs. `keys` are the keys of all stored values, ascending.
  func adopt(_ keys: [String]) {
    let known = Set(entries.map(\.key))
    let left = keys.filter { isKey($0) && !known.contains($0) }
    entries = left.map { Entry(key: $0, failures: 1) } + entries
  }

  /// Whether this is the key of a feedback. The prefix alone is no proof: other files may have it.
  private func isKey(_ key: String) -> Bool {
    key.hasPrefix(Self.prefix) && isUuid(String(key.dropFirst(Self.prefix.count)))
  }

  /// Returns the oldest feedback that can be sent; nil if there is none. Drops damaged feedback.
  /// Throws if the feedback cannot be read now.
  func begin() throws -> (key: String, feedback: StoredFeedback)? {
    while let entry = oldest {
      // Moves the feedback to the end of the list, so that it does not block other feedback.
      entries.removeAll { $0 === entry }
      entries.append(entry)
      let key = entry.key
      let data = try storage.value(key)
      if let feedback = data.flatMap(StoredFeedback.init(parsing:)) { return (key, feedback) }
      // If there is no data, another client has sent the feedback.
      if data != nil { drops.add("damaged") }
      remove(key)
    }
    return nil
  }

  func settle(_ key: String, _ attempted: Attempted) -> Sent {
    if let body = attempted.body {
      // If the body has no id, a proxy has responded, even if the status is 201 or 207.
      guard body["id"] is String else { return .pause(attempted.retryAfterMs) }
      countRefused(body["attachments"] as? [[String: Any]] ?? [])
      remove(key)
      return .settled
    }
    switch attempted.decision {
    case .stop: return .stop(attempted.code)
    case .few:
      guard let entry = entries.first(where: { $0.key == key }) else { return .settled }
      return .refused(entry, attempted.retryAfterMs)
    case .retry: return .pause(attempted.retryAfterMs)
    case .split, .drop:
      drops.add(attempted.code)
      remove(key)
      return .settled
    }
  }

  /// Counts the images that the server has refused although it has stored their feedback.
  private func countRefused(_ results: [[String: Any]]) {
    for result in results where result["status"] as? String != "stored" {
      drops.add(result["code"] as? String ?? "unknown")
    }
  }

  private func remove(_ key: String) {
    entries.removeAll { $0.key == key }
    storage.removeValue(key)
  }

  /// Forgets all feedback, and deletes it from storage.
  func clear() {
    for entry in entries { remove(entry.key) }
  }
}

/// A feedback as it is stored: a line of JSON about the attachments, a line with the payload, and
/// the bytes of the attachments.
struct StoredFeedback {
  private struct Part: Codable {
    let name: String
    let type: String
    let bytes: Int
  }

  /// The payload as JSON.
  let payload: [UInt8]
  let attachments: [Attachment]

  func print() -> Data {
    let parts = attachments.map { Part(name: $0.name, type: $0.type, bytes: $0.data.count) }
    var data = (try? JSONEncoder().encode(parts)) ?? Data()
    data.append(newline)
    data += payload
    data.append(newline)
    for attachment in attachments { data += attachment.data }
    return data
  }

  /// The request that sends this feedback. Its payload is a part without a file name.
  func form(withAttachments: Bool) -> OutgoingRequest {
    let boundary = "intake-\(UUID().uuidString)"
    var body = Data()
    func add(_ header: String, _ content: some Sequence<UInt8>) {
      body += "--\(boundary)\r\nContent-Disposition: form-data; \(header)\r\n\r\n".utf8
      body += content
      body += "\r\n".utf8
    }
    add("name=\"payload\"", payload)
    for one in withAttachments ? attachments : [] {
      let name = headerText(one.name)
      let type = headerText(one.type)
      add("name=\"attachments\"; filename=\"\(name)\"\r\nContent-Type: \(type)", one.data)
    }
    body += "--\(boundary)--\r\n".utf8
    return OutgoingRequest(
      path: "/feedback", contentType: "multipart/form-data; boundary=\(boundary)", body: body,
      timeout: 900, headers: ["prefer": "handling=lenient"])
  }
}

extension StoredFeedback {
  /// Parses a stored feedback.
  ///
  /// - Returns: nil if the data is damaged
  init?(parsing data: Data) {
    let fields = data.split(separator: newline, maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, let parts = try? JSONDecoder().decode([Part].self, from: fields[0])
    else { return nil }
    var rest = fields[2]
    guard parts.allSatisfy({ 0...data.count ~= $0.bytes }),
      rest.count == parts.reduce(0, { $0 + $1.bytes })
    else { return nil }
    payload = Array(fields[1])
    var read: [Attachment] = []
    for part in parts {
      read.append(Attachment(data: rest.prefix(part.bytes), name: part.name, type: part.type))
      rest = rest.dropFirst(part.bytes)
    }
    attachments = read
  }
}

/// Removes characters that would end a quoted text or its line.
private func headerText(_ text: String) -> String {
  String(text.unicodeScalars.filter { $0.value >= 0x20 && $0 != "\"" && $0 != "\\" })
}
