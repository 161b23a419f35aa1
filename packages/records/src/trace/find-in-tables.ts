import { sqlTime, type ClickHouse, type QueryParams, type RecordTable } from '@intake/clickhouse'
import { isUuidV7 } from '@intake/identity'
import { identity } from '@intake/schema'
import type { RecordRow, RecordSearch } from './matches.ts'

/** A row of the tables. Times are UTC, `YYYY-MM-DD hh:mm:ss.mmm`. */
export interface FoundRow extends RecordRow {
  state: 'stored' | 'erased' | 'dead_lettered'
  kind: RecordTable
  /** ClickHouse's code, if the record is a dead letter. */
  error_code?: number
}

const recordsMax = 1_000

/**
 * Returns the visible version of each record of which any version matches: a repeat may have come
 * with another request. Dead letters come first. At most 1,000 of each kind, and of dead letters.
 */
export async function findInTables(
  clickhouse: Pick<ClickHouse, 'query'>,
  search: RecordSearch,
): Promise<FoundRow[]> {
  const { conditions, params } = conditionsOf(search)
  const records = (['logs', 'feedback'] as const).map((kind) => {
    // Each condition has a subquery of its own, so that ClickHouse can use another index for each.
    const matches = conditions[kind].map(
      (condition) => `SELECT ${identity} FROM intake.${kind}_raw WHERE ${condition}`,
    )
    return `SELECT if(argMax(raw.is_deleted, raw.ver) = 1, 'erased', 'stored') AS state, '${kind}' AS kind,
       ${identity}, argMax(raw.received_at, raw.ver) AS received_at, argMax(raw.request_id, raw.ver) AS request_id
     FROM intake.${kind}_raw AS raw
     WHERE (${identity}) IN (${matches.join(' UNION ALL ')})
     GROUP BY ${identity} ORDER BY time, id LIMIT ${recordsMax}`
  })
  const letters = `SELECT 'dead_lettered' AS state, table AS kind, ${identity}, error_code,
       JSONExtractString(row, 'received_at') AS received_at,
       JSONExtractString(row, 'request_id') AS request_id
     FROM intake.dead_letters
     WHERE ${conditions.deadLetters.map((condition) => `(${condition})`).join(' OR ')}
     ORDER BY time, id LIMIT ${recordsMax}`
  const found = [letters, ...records].map((sql) => clickhouse.query<FoundRow>(sql, params))
  return (await Promise.all(found)).flat()
}

function conditionsOf(search: RecordSearch): {
  conditions: Record<RecordTable | 'deadLetters', string[]>
  params: QueryParams
} {
  if ('id' in search) {
    const { id } = search
    // Locates the row in the table by the time in the UUIDv7.
    const ofRecord = "time = UUIDv7ToDateTime({id:UUID}, 'UTC') AND id = {id:UUID}"
    const own = isUuidV7(id) ? [ofRecord] : []
    const ofRequest = 'request_id = {id:UUID}'
    return {
      conditions: {
        logs: [...own, ofRequest],
        feedback: [...own, `${ofRequest} OR feedback_id = {id:UUID}`],
        deadLetters: [
          'id = {id:UUID}',
          `has([JSONExtractString(row, 'request_id'), lower(JSONExtractString(row, 'feedback_id'))], {id:String})`,
        ],
      },
      params: { id },
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
