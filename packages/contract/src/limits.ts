export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The limits of the HTTP interface. Lengths are Unicode code points, as in JSON Schema. */
export const limits = {
  /** Of `POST /api/log`, as sent and after decompression, and of one entry of a batch. */
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
  /** Members and elements of one record, at all levels. Empty objects and arrays count twice. */
  jsonNodes: 10_000,
  /**
   * Memory of one member or element at most, in bytes, measured with objects without common
   * property names (docs/decisions/0008-json-bodies.md).
   */
  jsonNodeBytes: 160,
  /** Of a whole batch: 500 entries with 100 params each have 52,500. */
  batchJsonNodes: 60_000,
  /** Of JSON with an integer beyond 2^53 or an escape in a name, whose parser is slower. */
  losslessJsonBytes: 1024 * 1024,
  supportedAbis: 64,
  /** Of an application on a day, the most frequent: rows stay small even with values in names. */
  catalogueEntries: 5_000,
  /** Pairs of event and version, and entries of the catalogue, of an application in a month. */
  monthNames: 20_000,
  /** The tables accept only times strictly between these two (constraint of migration 0001). */
  recordTimeMs: { after: Date.UTC(2020, 0), before: Date.UTC(2200, 0) },
  /**
   * From arrival to the confirmation by Redis; a record that takes longer is not acknowledged. The
   * watermark is computed from this time.
   */
  acceptanceMs: { logs: 10_000, feedback: 30_000 },
  /**
   * For storing the attachments of one feedback, with retries, and for removing them. A feedback
   * has three steps that take time: attachments are stored, it is enqueued (within
   * `acceptanceMs.logs`), and its key is reserved or, after a failure, its attachments are removed.
   * Together they fit into `acceptanceMs.feedback`.
   */
  storageMs: 10_000,
  /** How far the time of an event or in an id may be before and after the gateway's clock. */
  eventAgeMs: 30 * dayMs,
  eventAheadMs: 10 * 60 * 1000,
  /** The rate limit of an API key counts requests in windows of this length. */
  rateWindowMs: 60_000,
  /**
   * Of one address in `rateWindowMs`, which all senders share behind a proxy that is not trusted.
   */
  preflightsPerAddress: 60_000,
  failuresPerAddress: 6_000,
  /** Between a gateway and Redis, or nothing is accepted. The watermark lags by this time. */
  clockSkewMaxMs: 5_000,
  /** Of Redis's memory, for idempotency keys. One API key gets at most half of each. */
  reservationShares: { logs: 0.15, feedback: 0.1 },
  /** Minimum number of days for which an idempotency key is kept. */
  keyDays: { logs: 3, feedback: 30 },
  /** Rejected entries of a batch that have details in the response, not only a code. */
  explainedEntries: 10,
} as const

/**
 * Maximum size of the body of a batch after decompression, in bytes.
 *
 * @param bodyBytesMax its maximum size as it arrives, in bytes
 */
export const batchJsonBytesMax = (bodyBytesMax: number): number => 4 * bodyBytesMax

export const keptFor = {
  logs: `${24 * limits.keyDays.logs} hours`,
  feedback: `${limits.keyDays.feedback} days`,
} as const

/** Only recommended: a value may come from the phone, and a shipped app cannot be corrected. */
export const timestampForm =
  'ISO 8601 timestamp with `Z` or an offset such as `+01:00`, 1970 to 2199; kept in UTC with milliseconds.'
