import { readFileSync } from 'node:fs'
import { documentedQueries } from '@intake/test-kit/documented-queries'

export interface BenchQuery {
  name: string
  /**
   * The query. It may use the parameters `app`, `from`, `to` and `key`. Queries in `lookups` use
   * other parameters, such as `id`.
   */
  sql: string
}

const page = new URL('../../../docs/queries.md', import.meta.url)

/** Queries that docs/queries.md does not have. */
const more: readonly BenchQuery[] = [
  { name: 'count of everything', sql: 'SELECT count() FROM intake.logs' },
  {
    name: 'volume by application and week',
    sql: `SELECT bundle_identifier, toStartOfWeek(time) AS week, count() AS events FROM intake.logs
GROUP BY ALL ORDER BY ALL`,
  },
  {
    name: 'the last hundred events of an application',
    sql: `SELECT * FROM intake.logs
WHERE bundle_identifier = {app:String} AND time >= {from:DateTime64(3, 'UTC')} AND time < {to:DateTime64(3, 'UTC')}
ORDER BY time DESC LIMIT 100`,
  },
]

/** The queries of docs/queries.md, for one application and 30 days, and the queries in `more`. */
export function readCookbook(): BenchQuery[] {
  const documented = documentedQueries(readFileSync(page, 'utf8'))
  return [...more, ...documented.map(({ title, sql }) => ({ name: title, sql }))]
}

/** Queries that find a few records among all, without an application or a period. */
export const lookups: readonly BenchQuery[] = [
  { name: 'by id', sql: 'SELECT * FROM intake.logs WHERE id = {id:UUID}' },
  {
    name: 'by device',
    sql: 'SELECT time, event, params FROM intake.logs WHERE device_uuid = {device:UUID} ORDER BY time',
  },
  {
    name: 'by user',
    sql: 'SELECT time, event, params FROM intake.logs WHERE unique_user_id = {user:String} ORDER BY time',
  },
  { name: 'by request_id', sql: 'SELECT * FROM intake.logs WHERE request_id = {request:UUID}' },
  {
    name: 'feedback with the last 50 events of its device',
    sql: `SELECT time, event, params FROM intake.logs
WHERE device_uuid = (SELECT device_uuid FROM intake.feedback WHERE id = {feedback:UUID})
ORDER BY time DESC LIMIT 50`,
  },
]
