import { sqlTime, type ClickHouse, type QueryParams, type RecordTable } from '@intake/clickhouse'
import { identity } from './identity.ts'

export type RecordSearch =
  /** The id of a record, its request or a feedback: a UUID in lower case. */
  | { id: string }
  /** Records of one device of an application. */
  | {
      bundleIdentifier: string
      deviceUuid: string
      ids: readonly string[]
      /** Selects ids by their last 22 characters (`of`), and by the period of their times. */
      tails?: { of: readonly string[]; from: Date; to: Date } | undefined
    }

/** A record in the tables. Times are UTC, `YYYY-MM-DD hh:mm:ss.mmm`. */
export interface FoundRecord {
  kind: RecordTable
  id: string
  time: string
  received_at: string
  bundle_identifier: string
  device_uuid: string
  request_id: string
  /** 1 if the record is a tombstone, of which only the identity remains; otherwise 0. */
  is_deleted: 0 | 1
}

/** A record that ClickHouse rejected. */
export interface FoundDeadLetter extends Omit<FoundRecord, 'is_deleted'> {
  failed_at: string
  error_code: number
}

const recordsMax = 1_000

/**
 * Returns the visible version of each record of which any version matches: a repeat may have come
 * with another request. At most 1,000 of each kind.
 */
export async function findRecords(
  clickhouse: Pick<ClickHouse, 'query'>,
  search: RecordSearch,
): Promise<FoundRecord[]> {
  const { conditions, params } = conditionsOf(search)
  const found = (['logs', 'feedback'] as const).map((kind) => {
    // Each condition has a subquery of its own, so that ClickHouse can use another index for each.
    const matches = conditions[kind].map(
      (condition) => `SELECT ${identity} FROM intake.${kind}_raw WHERE ${condition}`,
    )
    return clickhouse.query<FoundRecord>(
      `SELECT '${kind}' AS kind, ${identity}, argMax(raw.received_at, raw.ver) AS received_at,
         argMax(raw.request_id, raw.ver) AS request_id, argMax(raw.is_deleted, raw.ver) AS is_deleted
       FROM intake.${kind}_raw AS raw
       WHERE (${identity}) IN (${matches.join(' UNION ALL ')})
       GROUP BY ${identity} ORDER BY time, id LIMIT ${recordsMax}`,
      params,
    )
  })
  return (await Promise.all(found)).flat()
}

export async function findDeadLetters(
  clickhouse: Pick<ClickHouse, 'query'>,
  search: RecordSearch,
): Promise<FoundDeadLetter[]> {
  const { conditions, params } = conditionsOf(search)
  return clickhouse.query<FoundDeadLetter>(
    `SELECT table AS kind, ${identity}, failed_at, error_code,
       JSONExtractString(row, 'received_at') AS received_at,
       JSONExtractString(row, 'request_id') AS request_id
     FROM intake.dead_letters
     WHERE ${conditions.deadLetters.map((condition) => `(${condition})`).join(' OR ')}
     ORDER BY time, id LIMIT ${recordsMax}`,
    params,
  )
}

function conditionsOf(search: RecordSearch): {
  conditions: Record<RecordTable | 'deadLetters', string[]>
  params: QueryParams
} {
  if ('id' in search) {
    // Locates the row in the table by the time in the UUIDv7.
    const ofRecord = "time = UUIDv7ToDateTime({id:UUID}, 'UTC') AND id = {id:UUID}"
    const ofRequest = 'request_id = {id:UUID}'
    return {
      conditions: {
        logs: [...(isUuidV7(search.id) ? [ofRecord] : []), ofRequest],
        feedback: [
          ...(isUuidV7(search.id) ? [ofRecord] : []),
          `${ofRequest} OR feedback_id = {id:UUID}`,
        ],
        deadLetters: [
          'id = {id:UUID}',
          `has([JSONExtractString(row, 'request_id'), lower(JSONExtractString(row, 'feedback_id'))], {id:String})`,
        ],
      },
      params: { id: search.id },
    }
  }
  const { bundleIdentifier, deviceUuid, ids, tails } = search
  const of = 'bundle_identifier = {bundle:String} AND device_uuid = {device:UUID}'
  const matches = [`${of} AND id IN {ids:Array(UUID)}`]
  if (tails !== undefined) {
    const period = "time >= {from:DateTime64(3, 'UTC')} AND time <= {to:DateTime64(3, 'UTC')}"
    matches.push(`${of} AND ${period} AND substring(toString(id), 15) IN {tails:Array(String)}`)
  }
  return {
    conditions: { logs: matches, feedback: matches, deadLetters: matches },
    params: {
      bundle: bundleIdentifier,
      device: deviceUuid,
      ids,
      ...(tails && { tails: tails.of, from: sqlTime(tails.from), to: sqlTime(tails.to) }),
    },
  }
}

const isUuidV7 = (id: string) => id[14] === '7'
