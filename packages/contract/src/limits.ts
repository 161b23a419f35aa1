export const dayMs = 24 * 60 * 60 * 1000

/** The limits of the HTTP interface. Lengths are Unicode code points, as in JSON Schema. */
export const limits = {
  /**
   * Maximum size of a body of `POST /api/log`, both as sent and after decompression, and of one
   * entry of a batch.
   */
  logBytes: 1024 * 1024,
  payloadBytes: 1024 * 1024,
  feedbackTextLength: 20_000,
  identifierLength: 255,
  /** A longer text of the device is kept in `device_extra`, because people group by its columns. */
  deviceTextLength: 255,
  emailLength: 254,
  batchEntries: 500,
  attachments: 4,
  formParts: 64,
  formTexts: 32,
  jsonDepth: 32,
  /**
   * Maximum number of object members and array elements in one record (a log event, or the payload
   * of a feedback), at all levels. Empty objects and arrays count twice.
   */
  jsonNodes: 10_000,
  /**
   * Maximum memory that one member or element of a parsed JSON document takes, in bytes. It was
   * measured with objects that have no property names in common (docs/decisions/0008-json-bodies.md).
   */
  jsonNodeBytes: 160,
  /**
   * Maximum number of object members and array elements in a whole batch. For example, a batch of
   * 500 entries with 100 params each has 52,500.
   */
  batchJsonNodes: 60_000,
  /**
   * Maximum size in bytes of a JSON document with an integer beyond 2^53 or an escape in a name.
   * The parser for such documents is slower than the parser for other documents.
   */
  losslessJsonBytes: 1024 * 1024,
  supportedAbis: 64,
  /**
   * Maximum number of entries in the catalogue of an application on a day; the most frequent ones
   * are kept. The limit keeps rows small even if an application puts values into names.
   */
  catalogueEntries: 5_000,
  /**
   * Maximum number of pairs of event and version, and of entries in the catalogue, that are counted
   * apart in a month of an application: the first ones.
   */
  monthNames: 20_000,
  /** The tables accept only times strictly between these two (constraint of migration 0001). */
  recordTimeMs: { after: Date.UTC(2020, 0), before: Date.UTC(2200, 0) },
  /**
   * Maximum time from the arrival of a record to its confirmation by Redis. A record that takes
   * longer is not acknowledged. The watermark is computed from this time.
   */
  acceptanceMs: { logs: 10_000, feedback: 30_000 },
  /**
   * Timeout for storing the attachments of one feedback, with retries, and also for removing them.
   * A feedback has at most three steps that take time: its attachments are stored, it is enqueued
   * (within `acceptanceMs.logs`), and either its key is reserved or, after a failure, its
   * attachments are removed. Together they fit into `acceptanceMs.feedback`.
   */
  storageMs: 10_000,
  /**
   * How far the time of an event, or the time in an id, may be from the gateway's clock: at most
   * `eventAgeMs` before it, and at most `eventAheadMs` after it.
   */
  eventAgeMs: 30 * dayMs,
  eventAheadMs: 10 * 60 * 1000,
  /** The rate limit of an API key counts requests in windows of this length. */
  rateWindowMs: 60_000,
  /**
   * Maximum numbers of preflight requests and of failed authentications that one address may send
   * in `rateWindowMs`. Behind a proxy that is not trusted, all senders count as one address.
   */
  preflightsPerAddress: 60_000,
  failuresPerAddress: 6_000,
  /**
   * Maximum difference between the clocks of a gateway and of Redis. If the difference is larger,
   * the gateway accepts nothing. The watermark lags by this time.
   */
  clockSkewMaxMs: 5_000,
  /**
   * The fractions of Redis's memory that idempotency keys may use. One API key gets at most half of
   * each fraction.
   */
  reservationShares: { logs: 0.15, feedback: 0.1 },
  /** Minimum number of days for which an idempotency key is kept. */
  keyDays: { logs: 3, feedback: 30 },
  /**
   * In the response to a batch, at most this many rejected entries have details. Further rejected
   * entries have only a code.
   */
  explainedEntries: 10,
} as const

/**
 * Returns the maximum size of the body of a batch after decompression, in bytes.
 *
 * @param bodyBytesMax its maximum size as it arrives, in bytes
 */
export const batchJsonBytesMax = (bodyBytesMax: number): number => 4 * bodyBytesMax

export const keptFor = {
  logs: `${24 * limits.keyDays.logs} hours`,
  feedback: `${limits.keyDays.feedback} days`,
} as const

/**
 * The recommended form of a timestamp. Any other string is accepted too: the value may come from
 * the phone, and an app that is already shipped cannot be changed to correct it.
 */
export const timestampForm =
  'ISO 8601 timestamp with `Z` or an offset such as `+01:00`, 1970 to 2199; kept in UTC with milliseconds.'
