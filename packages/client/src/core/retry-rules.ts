// Generated from the error catalogue by `npm run docs`. Do not edit.

/**
 * What to do after each code. `never`: nothing was stored and nothing will be. `retry`: nothing was
 * stored. `unknown`: retry; it may have been stored. `few`: the same, at most three times.
 */
export const retryRules = {
  invalid_json: 'never',
  invalid_encoding: 'never',
  invalid_multipart: 'never',
  invalid_request: 'never',
  malformed_http: 'never',
  unauthorized: 'never',
  bundle_not_allowed: 'never',
  not_found: 'never',
  method_not_allowed: 'never',
  request_timeout: 'retry',
  body_too_large: 'never',
  attachment_too_large: 'never',
  too_many_attachments: 'never',
  unsupported_media_type: 'never',
  unsupported_encoding: 'never',
  attachment_not_an_image: 'never',
  expectation_failed: 'never',
  idempotency_key_reused: 'never',
  id_time_out_of_range: 'never',
  duplicate_id: 'never',
  rate_limited: 'retry',
  headers_too_large: 'never',
  internal_error: 'few',
  busy: 'retry',
  queue_full: 'retry',
  queue_unavailable: 'retry',
  keys_full: 'retry',
  clock_skew: 'retry',
  storage_unavailable: 'retry',
  outcome_unknown: 'unknown',
} as const
