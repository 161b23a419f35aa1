import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends with `URLSession`. Does not follow redirects, because the API key would be sent to another
/// server. Stores neither cookies nor responses.
final class HttpTransport: NSObject, Transport, URLSessionDataDelegate, @unchecked Sendable {
  private struct Pending {
    let resume: @Sendable (Answer?) -> Void
    var body = Data()
  }
  private struct State {
    var session: URLSession?
    var isClosed = false
    var pending: [Int: Pending] = [:]
  }

  private let prefix: String
  private let apiKey: String
  private let state = Locked(State())

  init(url: String, apiKey: String) {
    prefix = prefixOf(url)
    self.apiKey = apiKey
  }

  func send(_ outgoing: OutgoingRequest) async -> Answer? {
    guard let url = URL(string: prefix + outgoing.path) else { return nil }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = outgoing.body
    request.timeoutInterval = outgoing.timeout
    request.setValue(outgoing.contentType, forHTTPHeaderField: "content-type")
    request.setValue(apiKey, forHTTPHeaderField: "x-api-key")
    for (name, value) in outgoing.headers { request.setValue(value, forHTTPHeaderField: name) }
    guard let task = makeTask(request) else { return nil }
    // The timeout of `URLSession` starts again with every byte, so `deadline` limits the time of
    // the whole request.
    let deadline = Task.detached {
      try await Task.sleep(nanoseconds: UInt64(outgoing.timeout * 1e9))
      task.cancel()
    }
    defer { deadline.cancel() }
    return await withCheckedContinuation { continuation in
      let pending = Pending(resume: { continuation.resume(returning: $0) })
      state.withLock { $0.pending[task.taskIdentifier] = pending }
      task.resume()
    }
  }

  func close() {
    let session = state.withLock {
      $0.isClosed = true
      return $0.session.take()
    }
    session?.finishTasksAndInvalidate()
  }

  /// Makes a task while holding the lock, so that `close` cannot invalidate the session meanwhile.
  /// An invalid session ends the process when it is asked for a task.
  ///
  /// - Returns: nil after `close`
  private func makeTask(_ request: URLRequest) -> URLSessionDataTask? {
    state.withLock {
      if $0.isClosed { return nil }
      if let session = $0.session { return session.dataTask(with: request) }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpCookieStorage = nil
      configuration.urlCredentialStorage = nil
      configuration.urlCache = nil
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      $0.session = session
      return session.dataTask(with: request)
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = state.withLock {
      $0.pending[dataTask.taskIdentifier]?.body.append(data)
      return $0.pending[dataTask.taskIdentifier].map { $0.body.count > Limits.answerBytes } ?? false
    }
    if isTooLong { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection: HTTPURLResponse,
    newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
    let pending = state.withLock { $0.pending.removeValue(forKey: task.taskIdentifier) }
    guard let pending, error == nil, let response = task.response as? HTTPURLResponse else {
      pending?.resume(nil)
      return
    }
    pending.resume(
      Answer(
        status: response.statusCode,
        body: pending.body,
        date: response.value(forHTTPHeaderField: "Date"),
        retryAfter: response.value(forHTTPHeaderField: "Retry-After")))
  }
}

/// Returns the prefix of all paths: the address, with `/api` appended if it has no path.
func prefixOf(_ url: String) -> String {
  var prefix = url
  while prefix.hasSuffix("/") { prefix.removeLast() }
  let path = prefix.components(separatedBy: "://").last ?? ""
  return path.contains("/") ? prefix : prefix + "/api"
}
