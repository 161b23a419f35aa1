/**
 * Every error that a client can get: the HTTP status, a short title, and whether the same request
 * can succeed later (`retryable`).
 */
export const errorCatalogue = {
  invalid_json: { status: 400, retryable: false, title: 'The JSON cannot be parsed' },
  invalid_encoding: { status: 400, retryable: false, title: 'Not valid UTF-8, or not valid gzip' },
  invalid_multipart: { status: 400, retryable: false, title: 'The multipart body is malformed' },
  invalid_request: { status: 400, retryable: false, title: 'A field is missing or invalid' },
  malformed_http: { status: 400, retryable: false, title: 'The request is not valid HTTP' },
  unauthorized: { status: 401, retryable: false, title: 'No valid API key' },
  bundle_not_allowed: {
    status: 403,
    retryable: false,
    title: 'The API key is not for this bundle identifier',
  },
  key_suspended: {
    status: 403,
    retryable: false,
    title: 'The API key is suspended; keep the records',
  },
  origin_not_allowed: {
    status: 403,
    retryable: false,
    title: 'Pages of this origin may not send with this API key',
  },
  not_found: { status: 404, retryable: false, title: 'No such path' },
  method_not_allowed: { status: 405, retryable: false, title: 'Method not allowed on this path' },
  preflight_refused: {
    status: 405,
    retryable: false,
    title: 'Web pages of other origins may not send: CORS_ORIGINS is not set',
  },
  request_timeout: { status: 408, retryable: true, title: 'The request took too long to arrive' },
  body_too_large: { status: 413, retryable: false, title: 'The body is too large' },
  attachment_too_large: { status: 413, retryable: false, title: 'An attachment is too large' },
  attachment_too_many_pixels: {
    status: 413,
    retryable: false,
    title: 'An attachment has too many pixels',
  },
  too_many_attachments: { status: 413, retryable: false, title: 'Too many attachments' },
  unsupported_media_type: { status: 415, retryable: false, title: 'Unsupported content type' },
  unsupported_encoding: { status: 415, retryable: false, title: 'Unsupported content encoding' },
  attachment_not_an_image: {
    status: 415,
    retryable: false,
    title: 'An attachment is not an accepted image',
  },
  attachment_unreadable: {
    status: 415,
    retryable: false,
    title: 'The structure of an attachment cannot be read',
  },
  expectation_failed: { status: 417, retryable: false, title: 'Unsupported Expect header' },
  idempotency_key_reused: {
    status: 422,
    retryable: false,
    title: 'The idempotency key was used for another payload',
  },
  id_time_out_of_range: {
    status: 422,
    retryable: false,
    title: 'The time in the id is outside the accepted window',
  },
  duplicate_id: {
    status: 422,
    retryable: false,
    title: 'An earlier entry of this batch has the same id and other content',
  },
  rate_limited: { status: 429, retryable: true, title: 'Too many requests or records' },
  budget_exhausted: {
    status: 429,
    retryable: true,
    title: 'The API key has used up its budget for this day (UTC)',
  },
  headers_too_large: { status: 431, retryable: false, title: 'The header fields are too large' },
  internal_error: {
    status: 500,
    retryable: false,
    title: 'Unexpected error; the record may or may not have been stored',
  },
  busy: { status: 503, retryable: true, title: 'Too many requests or bytes in flight; not stored' },
  queue_full: { status: 503, retryable: true, title: 'The queue is full; not stored' },
  queue_unavailable: {
    status: 503,
    retryable: true,
    title: 'The queue is unavailable; not stored',
  },
  keys_full: {
    status: 503,
    retryable: true,
    title: 'No room for another idempotency key; not stored',
  },
  clock_skew: {
    status: 503,
    retryable: true,
    title: 'The clock of this gateway is wrong; not stored',
  },
  storage_unavailable: {
    status: 503,
    retryable: true,
    title: 'The attachment store is unavailable; not stored',
  },
  outcome_unknown: {
    status: 503,
    retryable: true,
    title: 'The record may or may not have been stored',
  },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string }>

export type ErrorCode = keyof typeof errorCatalogue

/**
 * Why one field is invalid. `pointer` is a JSON pointer (RFC 6901); `detail` never contains the
 * field's value.
 */
export interface FieldError {
  pointer: string
  detail: string
}

/**
 * An error that becomes the error response to a client. It has no stack trace, because its code
 * says what happened, and capturing the stack would take a sixth of the time of a refused request.
 * Its `cause` keeps its own stack trace.
 */
export class IntakeError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  /** Further members of the problem document (RFC 9457): the key is the member's name. */
  readonly members: Readonly<Record<string, string>>
  /**
   * Seconds after which the same request can succeed. If undefined, the error code determines how
   * long the client waits.
   */
  readonly retryAfterSeconds: number | undefined

  /** `detail` is sent to the client: it must not repeat what the client sent. */
  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      errors?: readonly FieldError[]
      members?: Readonly<Record<string, string>>
      retryAfterSeconds?: number
      cause?: unknown
    } = {},
  ) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(detail, { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'IntakeError'
    this.code = code
    this.errors = options.errors ?? []
    this.members = options.members ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }
}
