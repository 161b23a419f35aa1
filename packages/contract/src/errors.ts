/** The operations of `/openapi.json`. */
export const operationIds = ['createLog', 'createLogBatch', 'createFeedback'] as const
export type OperationId = (typeof operationIds)[number]

interface Row {
  status: number
  title: string
  /**
   * Seconds after which a client may retry, if an error does not say it itself; default: 1 if it is
   * retryable.
   */
  retryAfterSeconds?: number
  /** Set if the refusal protects the service: its records count as shed. */
  isShed?: true
  /** The operations whose responses can have it as their code; default: all. */
  operations?: readonly OperationId[]
  /**
   * Set if the response has no rate limit headers: `@intake/http-edge` sends it, or it is sent
   * before the limit of the API key is checked.
   */
  isUnlimited?: true
}

const feedback = { operations: ['createFeedback'] } as const
/** No documented operation responds with it, but the result of an entry or another path may. */
const none = { operations: [] } as const

/** The statuses after which the same request can succeed later. */
const retryStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

const catalogue = {
  invalid_json: { status: 400, title: 'The JSON cannot be parsed' },
  invalid_encoding: { status: 400, title: 'Not valid UTF-8, or not valid gzip' },
  invalid_multipart: { status: 400, title: 'The multipart body is malformed', ...feedback },
  invalid_request: { status: 400, title: 'A field is missing or invalid' },
  malformed_http: { status: 400, title: 'The request is not valid HTTP' },
  unauthorized: { status: 401, title: 'No valid API key', isUnlimited: true },
  bundle_not_allowed: { status: 403, title: 'The API key is not for this bundle identifier' },
  key_suspended: {
    status: 403,
    title: 'The API key is suspended; keep the records',
    retryAfterSeconds: 300,
    isUnlimited: true,
  },
  origin_not_allowed: {
    status: 403,
    title: 'Pages of this origin may not send with this API key',
    isUnlimited: true,
  },
  not_found: { status: 404, title: 'No such path', ...none },
  method_not_allowed: { status: 405, title: 'Method not allowed on this path', ...none },
  preflight_refused: {
    status: 405,
    title: 'Web pages of other origins may not send: CORS_ORIGINS is not set',
    ...none,
  },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  body_too_large: { status: 413, title: 'The body is too large' },
  attachment_too_large: { status: 413, title: 'An attachment is too large', ...feedback },
  attachment_too_many_pixels: {
    status: 413,
    title: 'An attachment has too many pixels',
    ...feedback,
  },
  too_many_attachments: { status: 413, title: 'Too many attachments', ...feedback },
  unsupported_media_type: { status: 415, title: 'Unsupported content type' },
  unsupported_encoding: { status: 415, title: 'Unsupported content encoding' },
  attachment_not_an_image: {
    status: 415,
    title: 'An attachment is not an accepted image',
    ...feedback,
  },
  attachment_unreadable: {
    status: 415,
    title: 'The structure of an attachment cannot be read',
    ...feedback,
  },
  expectation_failed: { status: 417, title: 'Unsupported Expect header', isUnlimited: true },
  idempotency_key_reused: {
    status: 422,
    title: 'The idempotency key was used for another payload',
  },
  id_time_out_of_range: {
    status: 422,
    title: 'The time in the id is outside the accepted window',
    operations: ['createLog', 'createFeedback'],
  },
  duplicate_id: {
    status: 422,
    title: 'An earlier entry of this batch has the same id and other content',
    ...none,
  },
  rate_limited: { status: 429, title: 'Too many requests or records' },
  budget_exhausted: { status: 429, title: 'The API key has used up its budget for this day (UTC)' },
  headers_too_large: { status: 431, title: 'The header fields are too large', isUnlimited: true },
  internal_error: {
    status: 500,
    title: 'Unexpected error; the record may or may not have been stored',
  },
  busy: { status: 503, title: 'Too many requests or bytes in flight; not stored', isShed: true },
  queue_full: {
    status: 503,
    title: 'The queue is full; not stored',
    retryAfterSeconds: 30,
    isShed: true,
  },
  queue_unavailable: {
    status: 503,
    title: 'The queue is unavailable; not stored',
    retryAfterSeconds: 5,
    isShed: true,
  },
  keys_full: {
    status: 503,
    title: 'No room for another idempotency key; not stored',
    retryAfterSeconds: 60,
    isShed: true,
  },
  clock_skew: {
    status: 503,
    title: 'The clock of this gateway is wrong; not stored',
    retryAfterSeconds: 5,
    isShed: true,
  },
  storage_unavailable: {
    status: 503,
    title: 'The attachment store is unavailable; not stored',
    retryAfterSeconds: 5,
    isShed: true,
    ...feedback,
  },
  outcome_unknown: { status: 503, title: 'The record may or may not have been stored' },
} as const satisfies Record<string, Row>

export type ErrorCode = keyof typeof catalogue

interface ErrorType extends Row {
  /** Whether the same request can succeed later. */
  retryable: boolean
}

export const errorCatalogue = Object.fromEntries(
  Object.entries<Row>(catalogue).map(([code, row]) => {
    const retryable = retryStatuses.has(row.status)
    const { retryAfterSeconds = retryable ? 1 : undefined } = row
    return [code, { ...row, retryAfterSeconds, retryable }]
  }),
) as Readonly<Record<ErrorCode, ErrorType>>

/** `pointer` is a JSON pointer (RFC 6901); `detail` never contains the field's value. */
export interface FieldError {
  pointer: string
  detail: string
}

/**
 * Becomes the error response to a client. It has no stack trace, which would take a sixth of the
 * time of a refused request; its `cause` keeps its own.
 */
export class IntakeError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  /** Further members of the problem document (RFC 9457): the key is the member's name. */
  readonly members: Readonly<Record<string, string>>
  /** When the same request can succeed; undefined: as the error code says. */
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
