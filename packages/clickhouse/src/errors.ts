/**
 * How the caller must handle a failure.
 * - `retry`: the same request may succeed later, or its outcome is unknown. Send it again.
 * - `operator`: no retry succeeds until an operator or a migration acts. Keep the rows, alert,
 *   retry rarely.
 * - `split`: like `retry`, but the size or an unknown fault of the request may be the cause. If it
 *   fails again, send the rows in smaller requests.
 * - `rejected`: ClickHouse rejects these rows and always will. Nothing of the request was stored.
 */
export type FailureKind = 'retry' | 'operator' | 'split' | 'rejected'

/** The exception codes of ClickHouse that are classified. Every other code means `split`. */
const failureCodes: Readonly<Record<number, readonly [FailureKind, string]>> = {
  3: ['retry', 'UNEXPECTED_END_OF_FILE'],
  75: ['retry', 'CANNOT_WRITE_TO_FILE_DESCRIPTOR'],
  // The server has too many open files, because the insert has too many columns or partitions.
  76: ['split', 'CANNOT_OPEN_FILE'],
  107: ['retry', 'FILE_DOESNT_EXIST'],
  159: ['retry', 'TIMEOUT_EXCEEDED'],
  164: ['retry', 'READONLY'],
  173: ['split', 'CANNOT_ALLOCATE_MEMORY'],
  201: ['retry', 'QUOTA_EXCEEDED'],
  202: ['retry', 'TOO_MANY_SIMULTANEOUS_QUERIES'],
  203: ['retry', 'NO_FREE_CONNECTION'],
  204: ['retry', 'CANNOT_FSYNC'],
  209: ['retry', 'SOCKET_TIMEOUT'],
  210: ['retry', 'NETWORK_ERROR'],
  225: ['retry', 'NO_ZOOKEEPER'],
  236: ['retry', 'ABORTED'],
  241: ['split', 'MEMORY_LIMIT_EXCEEDED'],
  242: ['retry', 'TABLE_IS_READ_ONLY'],
  252: ['retry', 'TOO_MANY_PARTS'],
  279: ['retry', 'ALL_CONNECTION_TRIES_FAILED'],
  285: ['retry', 'TOO_FEW_LIVE_REPLICAS'],
  286: ['retry', 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE'],
  289: ['retry', 'REPLICA_IS_NOT_IN_QUORUM'],
  319: ['retry', 'UNKNOWN_STATUS_OF_INSERT'],
  394: ['retry', 'QUERY_WAS_CANCELLED'],
  425: ['retry', 'SYSTEM_ERROR'],
  439: ['retry', 'CANNOT_SCHEDULE_TASK'],
  499: ['retry', 'S3_ERROR'],
  733: ['retry', 'TABLE_IS_BEING_RESTARTED'],
  745: ['retry', 'SERVER_OVERLOADED'],
  999: ['retry', 'KEEPER_EXCEPTION'],

  // The gateway is newer than the schema: a device has a field that the tuple lacks.
  10: ['operator', 'NOT_FOUND_COLUMN_IN_BLOCK'],
  16: ['operator', 'NO_SUCH_COLUMN_IN_TABLE'],
  60: ['operator', 'UNKNOWN_TABLE'],
  81: ['operator', 'UNKNOWN_DATABASE'],
  115: ['operator', 'UNKNOWN_SETTING'],
  192: ['operator', 'UNKNOWN_USER'],
  193: ['operator', 'WRONG_PASSWORD'],
  194: ['operator', 'REQUIRED_PASSWORD'],
  243: ['operator', 'NOT_ENOUGH_SPACE'],
  497: ['operator', 'ACCESS_DENIED'],
  516: ['operator', 'AUTHENTICATION_FAILED'],
  701: ['operator', 'CLUSTER_DOESNT_EXIST'],

  6: ['rejected', 'CANNOT_PARSE_TEXT'],
  25: ['rejected', 'CANNOT_PARSE_ESCAPE_SEQUENCE'],
  26: ['rejected', 'CANNOT_PARSE_QUOTED_STRING'],
  27: ['rejected', 'CANNOT_PARSE_INPUT_ASSERTION_FAILED'],
  38: ['rejected', 'CANNOT_PARSE_DATE'],
  41: ['rejected', 'CANNOT_PARSE_DATETIME'],
  53: ['rejected', 'TYPE_MISMATCH'],
  69: ['rejected', 'ARGUMENT_OUT_OF_BOUND'],
  70: ['rejected', 'CANNOT_CONVERT_TYPE'],
  72: ['rejected', 'CANNOT_PARSE_NUMBER'],
  117: ['rejected', 'INCORRECT_DATA'],
  130: ['rejected', 'CANNOT_READ_ARRAY_FROM_TEXT'],
  131: ['rejected', 'TOO_LARGE_STRING_SIZE'],
  349: ['rejected', 'CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN'],
  // The compressed bytes are truncated or damaged.
  354: ['rejected', 'ZLIB_INFLATE_FAILED'],
  376: ['rejected', 'CANNOT_PARSE_UUID'],
  467: ['rejected', 'CANNOT_PARSE_BOOL'],
  469: ['rejected', 'VIOLATED_CONSTRAINT'],
  561: ['rejected', 'ZSTD_DECODER_FAILED'],
}

/**
 * The error for every failure of the server or the connection to it. `message` never contains rows
 * or credentials, so it may be logged.
 */
export class ClickHouseError extends Error {
  override readonly name = 'ClickHouseError'
  readonly kind: FailureKind
  /** ClickHouse's exception code; absent if ClickHouse itself did not respond. */
  readonly code: number | undefined
  /** Whether the request was too large for ClickHouse's memory, or for a proxy before it. */
  readonly isTooLarge: boolean
  readonly #serverText: string | undefined

  constructor(
    message: string,
    options: {
      kind: FailureKind
      code?: number
      isTooLarge?: boolean
      serverText?: string
      cause?: unknown
    },
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.kind = options.kind
    this.code = options.code
    this.isTooLarge = options.isTooLarge ?? false
    this.#serverText = options.serverText
  }

  /** ClickHouse's message. It quotes the rows, so store it with the rows and never log it. */
  get serverText(): string | undefined {
    return this.#serverText
  }
}

/** The tables contradict those of this release. The message is for an operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** Describes why a request, or its connection, failed, in words for an operator. */
export function describeError(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  if (!(cause instanceof Error) || cause.name === 'AbortError') return message
  // If a host has several addresses, the error of connecting to it has a code and no message.
  const reason = cause.message || (cause as NodeJS.ErrnoException).code
  return reason === undefined ? message : `${message}: ${reason}`
}

const credentialCodes = new Set([192, 193, 194, 516])

/**
 * Describes why a request failed. If ClickHouse cannot be reached, does not accept the user, or
 * another server responds, names what corrects it. A ClickHouse that is slow needs no other URL.
 */
export function explainFailure(error: ClickHouseError): string {
  const why = describeError(error).replace(/\.$/, '')
  const { code, cause, serverText } = error
  const isElsewhere = code === undefined && (cause !== undefined || serverText !== undefined)
  const isUnusable = isElsewhere || (code !== undefined && credentialCodes.has(code))
  return isUnusable ? `${why}: start ClickHouse, or correct CLICKHOUSE_URL` : why
}

/** Whether ClickHouse responded with an exception code that `failureCodes` does not classify. */
export const hasUnknownCode = (error: unknown): boolean =>
  error instanceof ClickHouseError && error.code !== undefined && !(error.code in failureCodes)

const outOfMemory: ReadonlySet<number> = new Set([173, 241])

/**
 * A row or device has a field that its table or this worker does not know. The second text is that
 * of a device that also has all known fields.
 */
const unknownField =
  /^Code: 117\. DB::Exception: (?:Unknown field found|Unexpected number of elements in named tuple)/

/**
 * The name of the exception, which ClickHouse adds after all that it quotes. `.*` takes the last
 * text of this form, so nothing quoted can count as the name.
 */
const nameIn = (serverText: string): string =>
  /^.*\(([A-Z][A-Z\d_]{2,60})\) \(version \d/s.exec(serverText)?.[1] ?? 'unknown code'

/**
 * Adds ClickHouse's sentence to the error of a statement that only defines tables, views or
 * functions. Such a statement reads no rows, so the sentence quotes none. Returns any other error
 * as it is.
 */
export const explainDefinition = (error: unknown, statement: string): unknown => {
  if (!(error instanceof ClickHouseError) || !/^\s*(CREATE|ALTER|DROP|RENAME)\b/.test(statement))
    return error
  const { message, kind, code, serverText } = error
  if (code === undefined || serverText === undefined) return error
  const sentence = serverText
    .replace(/^Code: \d+\. DB::Exception: /, '')
    .replace(/ \([A-Z\d_]+\) \(version .*$/s, '')
  const shown = sentence.length > sentenceMax ? `${sentence.slice(0, sentenceMax)} …` : sentence
  return new ClickHouseError(`${message}: ${shown}`, { kind, code, serverText, cause: error })
}

/** Long enough for the reason; the types of columns that follow it can have thousands of characters. */
const sentenceMax = 400

/** @param serverText the body of the response with this exception code */
export const errorForCode = (code: number, serverText: string): ClickHouseError => {
  const [kind, name] = unknownField.test(serverText)
    ? (['operator', 'unknown field'] as const)
    : (failureCodes[code] ?? ['split', nameIn(serverText)])
  const isTooLarge = outOfMemory.has(code)
  return new ClickHouseError(`ClickHouse responded with ${code} (${name})`, {
    kind,
    code,
    isTooLarge,
    serverText,
  })
}
