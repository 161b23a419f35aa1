/// What an answer means for the records of its request.
enum Decision {
  /// The same again, later.
  case retry
  /// The same again, at most three times.
  case few
  /// It is too large.
  case split
  /// Nothing will be accepted until someone changes a setting; everything is kept.
  case stop
  /// It will never be accepted.
  case drop

  /// A 4xx is final, also if this release does not know it. Without a code, one about the address or
  /// the key is a proxy's: it may lead to the gateway again later.
  ///
  /// - Parameters:
  ///   - status: 0: there was no answer
  ///   - code: of the problem; nil: the answer is not Intake's
  init(status: Int, code: String?) {
    switch status {
    case 413: self = .split
    case 401: self = .stop
    case 500: self = .few
    case ..<400, 501...: self = .retry
    case _ where RetryRules.retryStatuses.contains(status): self = .retry
    case _ where !RetryRules.settingStatuses.contains(status): self = .drop
    default: self = code == nil ? .retry : .stop
    }
  }
}

/// Whether the answer says that nothing of the request was stored.
func nothingWasStored(status: Int, code: String?) -> Bool {
  guard let code, !code.isEmpty else { return false }
  return (status < 500 || status == 503) && !RetryRules.uncertainCodes.contains(code)
}
