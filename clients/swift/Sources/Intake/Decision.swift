/// What to do with the records of a failed request.
enum Decision {
  /// Send the same request again later.
  case retry
  /// Send the same request again later, and others first: the refusal may concern what the records
  /// contain. See `Waiting`.
  case few
  /// The request is too large. Send its records in smaller requests.
  case split
  /// Keep all records and send nothing more, because every request fails until someone changes a
  /// setting.
  case stop
  /// Drop the records, because they will never be accepted.
  case drop

  /// Decides what to do after a failed request. A 4xx about the records is final, even if this
  /// release does not know its error code. A 4xx about the URL or the API key (one of
  /// `settingStatuses`) stops sending if the response has an error code and no `Retry-After`. A
  /// response without a code is from a proxy, which may refuse what the records contain with any
  /// status, such as 200 with a page. A later request may pass the proxy and reach the gateway, so
  /// the records are kept.
  ///
  /// - Parameters:
  /// - status: 0 if there was no response
  /// - code: the error code in the response; nil if the response is not Intake's
  /// - retryAfterMs: the pause that the server asked for; 0 if it asked for none
  init(status: Int, code: String?, retryAfterMs: Double) {
    switch status {
    case 413: self = .split
    case 0, 429, 501...: self = .retry
    case ..<400, 500: self = .few
    case _ where code == nil || RetryRules.retryStatuses.contains(status): self = .few
    case _ where !RetryRules.settingStatuses.contains(status): self = .drop
    default: self = retryAfterMs > 0 ? .retry : .stop
    }
  }
}

/// Whether the response shows that nothing of the request was stored.
func nothingWasStored(status: Int, code: String?) -> Bool {
  guard let code else { return false }
  return (status < 500 || status == 503) && !RetryRules.uncertainCodes.contains(code)
}
