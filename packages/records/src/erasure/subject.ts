import { createHmac, hash, type KeyObject } from 'node:crypto'
import { sqlTime, type QueryParams } from '@intake/clickhouse'

/**
 * Says which records are erased or exported: those of a user, those of a device, or those that
 * arrived with an API key within a range of time.
 */
export type Subject =
  | {
      kind: 'user' | 'device'
      /** `unique_user_id`, or `device_uuid` in lower case. */
      id: string
      /** Restricts the subject to this application. Default: all applications. */
      bundleIdentifier?: string | undefined
    }
  | {
      kind: 'api-key'
      /** The public id of the key. */
      id: string
      /** The range of `received_at`; `to` is excluded. */
      from: Date
      to: Date
    }

/** A condition on the columns of a table, and the values of its placeholders. */
export interface Condition {
  sql: string
  params: QueryParams
}

/** Selects the rows of a subject in a table of records, including repeats of a record. */
export function recordCondition(subject: Subject): Condition {
  const params = paramsOf(subject)
  if (subject.kind === 'api-key') {
    const range = during('received_at')
    return { sql: `(api_key_id = {subject:String} AND ${range})`, params }
  }
  const own =
    subject.kind === 'user' ? 'unique_user_id = {subject:String}' : 'device_uuid = {subject:UUID}'
  return { sql: `(${own}${inApplication(subject)})`, params }
}

/**
 * Like `recordCondition`, for a mutation. ClickHouse keeps the text of mutations, so this condition
 * contains only a hash of a user's id.
 *
 * @param salt random, so that the hash cannot be recognized
 */
export function mutationCondition(subject: Subject, salt: string): Condition {
  if (subject.kind !== 'user') return recordCondition(subject)
  const digest = hash('sha256', salt + subject.id)
  const sql = 'lower(hex(SHA256(concat({salt:String}, unique_user_id)))) = {digest:String}'
  const params = { ...paramsOf(subject), subject: '', salt, digest }
  return { sql: `(${sql}${inApplication(subject)})`, params }
}

/**
 * Selects the dead letters of a subject. A row that is not JSON belongs to every user or device
 * whose id it contains.
 */
export function deadLetterCondition(subject: Subject): Condition {
  const params = paramsOf(subject)
  if (subject.kind === 'api-key') {
    const receivedAt =
      "parseDateTime64BestEffortOrNull(JSONExtractString(row, 'received_at'), 3, 'UTC')"
    const range = during(receivedAt)
    return { sql: `(JSONExtractString(row, 'api_key_id') = {subject:String} AND ${range})`, params }
  }
  const own =
    subject.kind === 'user'
      ? "JSONExtractString(row, 'unique_user_id') = {subject:String}"
      : 'device_uuid = {subject:UUID}'
  const contains = 'positionCaseInsensitive(row, toString({subject:String})) > 0'
  return {
    sql: `((${own}${inApplication(subject)}) OR (NOT isValidJSON(row) AND ${contains}))`,
    params,
  }
}

/**
 * A hash that identifies a subject in the journal without naming it. Without the key nobody can
 * test whether it stands for a known id.
 */
export function subjectHash(subject: Subject, key: KeyObject): string {
  const bundle = subject.kind === 'api-key' ? '' : (subject.bundleIdentifier ?? '')
  const text = JSON.stringify(['erasure', subject.kind, bundle, subject.id])
  return createHmac('sha256', key).update(text).digest('hex')
}

const during = (time: string) =>
  `${time} >= {from:DateTime64(3, 'UTC')} AND ${time} < {to:DateTime64(3, 'UTC')}`

function inApplication(subject: { bundleIdentifier?: string | undefined }): string {
  return subject.bundleIdentifier === undefined ? '' : ' AND bundle_identifier = {bundle:String}'
}

function paramsOf(subject: Subject): QueryParams {
  if (subject.kind !== 'api-key') {
    return { subject: subject.id, bundle: subject.bundleIdentifier ?? '' }
  }
  return { subject: subject.id, from: sqlTime(subject.from), to: sqlTime(subject.to) }
}
