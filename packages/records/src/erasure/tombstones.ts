import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import { identity, syncReplicas, tombstoneVer } from '@intake/schema'
import { recountErased } from '../counts/recount.ts'
import { divideRows } from './divide-rows.ts'
import { deadLetterCondition, recordCondition, type Condition, type Subject } from './subject.ts'

export const payloadTables = ['logs_raw', 'feedback_raw', 'dead_letters_raw'] as const
export type PayloadTable = (typeof payloadTables)[number]
export const recordTables = ['logs_raw', 'feedback_raw'] as const
export type RecordTableName = (typeof recordTables)[number]

/** The sorting key of each table, which identifies a row. */
export const keyOf = (table: PayloadTable): string =>
  table === 'dead_letters_raw' ? `table, ${identity}` : identity
const letterKey = keyOf('dead_letters_raw')
const kindOf = (table: RecordTableName) => (table === 'logs_raw' ? 'logs' : 'feedback')

/**
 * Selects the tombstones of a table.
 *
 * @param since only those that were written since then; those of dead letters do not say when
 */
export function hasTombstone(table: PayloadTable, since = new Date(0)): Condition {
  const recent = table === 'dead_letters_raw' ? '1' : writtenSince(since)
  return { sql: `ver = ${tombstoneVer} AND ${recent}`, params: {} }
}

const writtenSince = (since: Date) => `received_at >= toDateTime64('${sqlTime(since)}', 3, 'UTC')`

/** Selects the tombstones of feedback since `since`, and older ones whose repeat is a dead letter. */
export function mayHaveObjects(since = new Date(0)): Condition {
  const letters = `SELECT id FROM intake.dead_letters_raw WHERE table = 'feedback' AND is_deleted = 0`
  const sql = `ver = ${tombstoneVer} AND (${writtenSince(since)} OR id IN (${letters}))`
  return { sql, params: {} }
}

/** @param rows a condition: those among these */
export const tombstones = (table: PayloadTable, rows: string, since?: Date): string =>
  `SELECT ${keyOf(table)} FROM intake.${table} WHERE ${hasTombstone(table, since).sql} AND ${rows}`

type Sql = Pick<ClickHouse, 'query' | 'insertSelect'>

/**
 * Inserts a tombstone, which is an identity without a payload, for each record and dead letter of
 * the subject that has none since `since`: what was repeated after an erasure has an older one. A
 * record whose visible version belongs to another subject gets none. Resolves to the number of new
 * tombstones.
 */
export async function writeTombstones(
  clickhouse: Sql & Pick<ClickHouse, 'command' | 'cluster'>,
  subject: Subject,
  since: Date,
) {
  await syncReplicas(clickhouse, payloadTables)
  const { sql, params } = recordCondition(subject)
  const inRecords = (table: RecordTableName) =>
    insertDivided(
      clickhouse,
      { into: table, of: table, rows: { sql, params } },
      (_, related) => `FROM intake.${table} WHERE ${related}
       GROUP BY ${identity}
       HAVING argMaxIf(${sql}, (ver, ${sql}), ver < ${tombstoneVer})
         AND countIf(${hasTombstone(table, since).sql}) = 0`,
    )
  const logs = await inRecords('logs_raw')
  // So that a count that is newer than the marks was made without these records, on any replica.
  await syncReplicas(clickhouse, ['logs_raw'])
  await recountErased(clickhouse, hasTombstone('logs_raw', since))
  const letters = deadLetterCondition(subject)
  const deadLetters = await insertDivided(
    clickhouse,
    {
      into: 'dead_letters_raw',
      of: 'dead_letters_raw',
      rows: { ...letters, sql: `is_deleted = 0 AND ${letters.sql}` },
    },
    (mine, related) => `FROM (SELECT DISTINCT ${letterKey} FROM intake.dead_letters_raw
       WHERE ${mine} AND (${letterKey}) NOT IN (${tombstones('dead_letters_raw', related)}))`,
  )
  return {
    logs,
    feedback: await inRecords('feedback_raw'),
    deadLetters: deadLetters + (await spreadTombstones(clickhouse)),
  }
}

/**
 * Gives a record a tombstone if its dead letter has one, and the reverse: a repeat of an erased
 * record may be stored as a record or as a dead letter. What retention has dropped gets no
 * tombstones. Resolves to the number of dead letters that got a tombstone.
 */
export async function spreadTombstones(clickhouse: Sql): Promise<number> {
  let letters = 0
  for (const table of recordTables) {
    const params = { kind: kindOf(table) }
    await insertDivided(
      clickhouse,
      {
        into: table,
        of: 'dead_letters_raw',
        rows: { sql: `ver = ${tombstoneVer} AND table = {kind:String}`, params },
      },
      (
        erased,
        related,
      ) => `FROM (WITH (SELECT max(days) FROM intake.retention FINAL WHERE kind = {kind:String}) AS kept_days,
               (SELECT mapFromArrays(groupArray(bundle_identifier), groupArray(days))
                FROM intake.application_retention FINAL WHERE kind = {kind:String}) AS own_days
             SELECT DISTINCT ${identity} FROM intake.dead_letters_raw
             WHERE ${erased}
               AND bundle_identifier != '' AND time = UUIDv7ToDateTime(id, 'UTC')
               AND time > toDateTime64('2020-01-01 00:00:00', 3, 'UTC')
               AND time < toDateTime64('2200-01-01 00:00:00', 3, 'UTC')
               AND (kept_days = 0 OR time >= toStartOfMonth(now('UTC') - toIntervalDay(kept_days)))
               AND (own_days[bundle_identifier] = 0 OR time >= toStartOfDay(now('UTC') - toIntervalDay(own_days[bundle_identifier])))
               AND (${identity}) NOT IN (SELECT ${identity} FROM intake.${table} WHERE ${related}))`,
    )
    letters += await insertDivided(
      clickhouse,
      {
        into: 'dead_letters_raw',
        of: 'dead_letters_raw',
        rows: { sql: 'is_deleted = 0 AND table = {kind:String}', params },
      },
      (open, related) => `FROM (SELECT DISTINCT ${letterKey} FROM intake.dead_letters_raw
         WHERE ${open}
           AND (${identity}) IN (${tombstones(table, related)})
           AND (${letterKey}) NOT IN (${tombstones('dead_letters_raw', related)}))`,
    )
  }
  return letters
}

interface Division {
  /** The table that gets the tombstones. */
  into: PayloadTable
  /** The rows for which they are, and the table that has these. */
  of: PayloadTable
  rows: Condition
}

/**
 * Inserts tombstones range by range (`divideRows`). Resolves to their number.
 *
 * @param from a SELECT from its FROM on. Its arguments are the conditions of the rows in a range,
 *   and of rows of any table that may have their identities: a range has more rows of others than
 *   fit into memory.
 */
async function insertDivided(
  clickhouse: Sql,
  { into, of, rows }: Division,
  from: (rows: string, related: string) => string,
): Promise<number> {
  // The moment of the erasure, by which intake.deletions and exports find it.
  const isRecord = into !== 'dead_letters_raw'
  let inserted = 0
  for (const range of await divideRows(clickhouse, of, rows)) {
    const some = `${range} AND ${rows.sql}`
    const related = `${range} AND (${identity}) IN (SELECT ${identity} FROM intake.${of} WHERE ${some})`
    inserted += await clickhouse.insertSelect(
      `INSERT INTO intake.${into} (${keyOf(into)}${isRecord ? ', received_at' : ''}, ver, is_deleted)
       SELECT ${keyOf(into)}${isRecord ? ", now64(3, 'UTC')" : ''}, ${tombstoneVer}, 1
       ${from(some, related)}
       SETTINGS max_partitions_per_insert_block = 0`,
      rows.params,
    )
  }
  return inserted
}

/** Yields the ids of stored feedback by day (`YYYY-MM-DD`), one day at a time. */
export async function* feedbackByDay(
  clickhouse: Pick<ClickHouse, 'query'>,
  { sql, params }: Condition,
): AsyncGenerator<{ day: string; ids: Set<string> }> {
  const from = `FROM intake.feedback_raw WHERE ${sql}`
  const days = await clickhouse.query<{ day: string }>(
    `SELECT DISTINCT toString(toDate(time)) AS day ${from} ORDER BY day`,
    params,
  )
  for (const { day } of days) {
    const rows = await clickhouse.query<{ id: string }>(
      `SELECT DISTINCT toString(id) AS id ${from} AND toDate(time) = {day:Date}`,
      { ...params, day },
    )
    yield { day, ids: new Set(rows.map(({ id }) => id)) }
  }
}
