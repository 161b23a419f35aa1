// Generated from the error catalogue by `npm run generate`. Do not edit.
enum RetryRules {
  /// Statuses below 500 after which the same request can succeed later.
  static let retryStatuses: [Int] = [408, 429]

  /// Statuses of errors that the URL or the API key causes, not the records.
  static let settingStatuses: [Int] = [401, 403, 404, 405]

  /// Codes of 503 after which the records may be stored. After other codes they are not.
  static let uncertainCodes: [String] = ["outcome_unknown"]
}
