import { createHmac, hash, type KeyObject } from 'node:crypto'
import { sqlTime, type QueryParams } from '@intake/clickhouse'

/** The records of a user, of a device, or those that came with an API key in a period. */
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

export interface Condition {
  sql: string
  params: QueryParams
}

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

/** ClickHouse keeps the text of mutations, so this has only a salted hash of a user's id. */
export function mutationCondition(subject: Subject, salt: string): Condition {
  if (subject.kind !== 'user') return recordCondition(subject)
  const digest = hash('sha256', salt + subject.id)
  const sql = 'lower(hex(SHA256(concat({salt:String}, unique_user_id)))) = {digest:String}'
  const params = { ...paramsOf(subject), subject: '', salt, digest }
  return { sql: `(${sql}${inApplication(subject)})`, params }
}

/** A row that is not JSON belongs to every user or device whose id it contains. */
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

/** Without the key nobody can test whether the hash stands for a known id. */
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
