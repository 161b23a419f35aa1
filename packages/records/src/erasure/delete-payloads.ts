import { randomUUID } from 'node:crypto'
import { sqlTime, type ClickHouse, type QueryParams } from '@intake/clickhouse'
import { pause, plural } from '@intake/runtime'
import {
  alterStored,
  identity,
  storedTable,
  syncReplicas,
  systemTable,
  tombstoneVer,
} from '@intake/schema'
import { countRows } from '../count-rows.ts'
import { countTables } from '../counts/replace-counts.ts'
import { exampleTable } from './erase-examples.ts'
import { deadLetterCondition, mutationCondition, recordCondition, type Subject } from './subject.ts'
import {
  keyOf,
  payloadTables,
  recordTables,
  tombstones,
  type RecordTableName,
} from './tombstones.ts'

type Sql = Pick<ClickHouse, 'query' | 'command' | 'cluster'>

/** The tables with rows to delete. The tombstones of feedback also apply to `attachments_raw`. */
const erasedTables = [...payloadTables, 'attachments_raw'] as const
type ErasedTable = (typeof erasedTables)[number]

const stored = (table: ErasedTable, where: string) => `FROM intake.${table} WHERE ${where}`

/** Selects the rows that still have a payload although their record has a tombstone. */
const erased = (table: ErasedTable) =>
  table === 'attachments_raw'
    ? `(${identity}) IN (${tombstones('feedback_raw')})`
    : `ver < ${tombstoneVer} AND (${keyOf(table)}) IN (${tombstones(table)})`

/** A version is hidden if the visible one of its record belongs to another subject. */
const hidden = (table: RecordTableName, condition: string) =>
  `ver < ${tombstoneVer} AND ${condition} AND (${identity}) IN (
     SELECT ${identity} FROM intake.${table}
     WHERE (${identity}) IN (SELECT ${identity} FROM intake.${table} WHERE ${condition})
     GROUP BY ${identity}
     HAVING max(ver) < ${tombstoneVer} AND NOT argMax(${condition}, (ver, ${condition})))`

/**
 * Starts to delete the rows of all records that have a tombstone. If a subject is given, also
 * starts to delete the subject's hidden versions of records (see `hidden`). Resolves to the number
 * of these rows once the deletion has started; `untilDeleted` waits for its end.
 */
export async function startDeletion(clickhouse: Sql, subject?: Subject): Promise<number> {
  let rows = 0
  // Each replica deletes the rows whose tombstones it has, so every replica must have all
  // tombstones.
  await syncReplicas(clickhouse, erasedTables)
  for (const table of erasedTables) rows += await deleteRows(clickhouse, table, erased(table))
  // The device is part of the identity of a record. So a version of one device never hides a
  // version of another device.
  if (subject === undefined || subject.kind === 'device') return rows
  for (const table of recordTables) {
    const { sql, params } = recordCondition(subject)
    const found = await countRows(clickhouse, stored(table, hidden(table, sql)), params)
    if (found === 0) continue
    const unnamed = mutationCondition(subject, randomUUID())
    rows += await deleteRows(clickhouse, table, hidden(table, unnamed.sql), unnamed.params)
  }
  return rows
}

async function deleteRows(
  clickhouse: Sql,
  table: ErasedTable,
  where: string,
  params: QueryParams = {},
): Promise<number> {
  const rows = await countRows(clickhouse, stored(table, where), params)
  if (rows > 0) {
    const remove = `DELETE WHERE ${where}
       SETTINGS mutations_sync = 0, allow_nondeterministic_mutations = 1`
    await clickhouse.command(alterStored(clickhouse, table, remove), params)
  }
  return rows
}

const pollMs = 500

interface Wait {
  /** In milliseconds of `performance.now()`. */
  deadline: number
  progress: (sentence: string) => void
}

/**
 * Waits until no replaced part is on the disk of a server, or until the deadline. Resolves to the
 * number of parts that are left.
 */
export async function untilDeleted(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  options: Wait & { leavesReplacedParts: boolean },
): Promise<number> {
  const { deadline, leavesReplacedParts, progress } = options
  const payloads = erasedTables.map((table) => storedTable(clickhouse, table))
  const tables = [...payloads, ...countTables, exampleTable]
  const { parts } = await untilRewritten(clickhouse, tables, options)
  if (parts > 0) return parts
  const oldParts = `SELECT concat(hostName(), ' ', table, ' ', name) AS part FROM ${systemTable(clickhouse, 'parts')} WHERE database = 'intake' AND table IN {tables:Array(String)} AND NOT active`
  let replaced: string[] | undefined
  for (;;) {
    const rows = await clickhouse.query<{ part: string }>(oldParts, { tables })
    const present = new Set(rows.map(({ part }) => part))
    // Counts only the parts that were old when the last part had been rewritten. Parts that become
    // old later were replaced by ordinary merges.
    replaced = [...(replaced ?? present)].filter((part) => present.has(part))
    const { length } = replaced
    if (length === 0 || leavesReplacedParts || performance.now() >= deadline) return length
    progress(`${length} replaced parts on disk; ClickHouse removes them within 10 minutes`)
    await pause(pollMs)
  }
}

/**
 * Waits until ClickHouse has done all mutations of tables, whoever began them, or until the
 * deadline. Resolves to the number of parts that are left, and why.
 */
export async function untilRewritten(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  tables: readonly string[],
  { deadline, progress }: Wait,
): Promise<{ parts: number; failure: string }> {
  for (;;) {
    const [found] = await clickhouse.query<{ mutations: number; parts: number; failure: string }>(
      `SELECT countIf(NOT is_killed) AS mutations, sum(parts_to_do) AS parts,
         maxIf(latest_fail_reason, NOT is_killed) AS failure
       FROM ${systemTable(clickhouse, 'mutations')}
       WHERE database = 'intake' AND table IN {tables:Array(String)} AND NOT is_done`,
      { tables },
    )
    const { mutations = 0, failure = '' } = found ?? {}
    if (mutations === 0) return { parts: 0, failure }
    const parts = Math.max(found?.parts ?? 0, 1)
    if (performance.now() >= deadline) return { parts, failure }
    progress(`${parts} ${plural(parts, 'part')} to rewrite${failure && `: ${failure}`}`)
    await pause(pollMs)
  }
}

export async function countStored(
  clickhouse: Pick<ClickHouse, 'query'>,
  subject: Subject,
): Promise<{ records: number; deadLetters: number }> {
  const { sql, params } = recordCondition(subject)
  let records = 0
  for (const table of recordTables) {
    records += await countRows(
      clickhouse,
      stored(table, `ver < ${tombstoneVer} AND ${sql}`),
      params,
    )
  }
  const letters = deadLetterCondition(subject)
  const where = `is_deleted = 0 AND ver < ${tombstoneVer} AND ${letters.sql}`
  const deadLetters = await countRows(clickhouse, stored('dead_letters_raw', where), letters.params)
  return { records, deadLetters }
}

export async function countPayloads(
  clickhouse: Pick<ClickHouse, 'query'>,
  subject?: Subject,
  receivedBefore: Date = new Date(),
): Promise<number> {
  let rows = 0
  for (const table of erasedTables)
    rows += await countRows(clickhouse, stored(table, erased(table)))
  if (subject === undefined) return rows
  const { sql, params } = recordCondition(subject)
  const where = `ver < ${tombstoneVer} AND ${sql} AND received_at <= {before:DateTime64(3, 'UTC')}`
  for (const table of recordTables) {
    const all = { ...params, before: sqlTime(receivedBefore) }
    rows += await countRows(clickhouse, stored(table, where), all)
  }
  return rows
}
