import { randomUUID } from 'node:crypto'
import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import { pause, quantity } from '@intake/runtime'
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
import { divideRows } from './divide-rows.ts'
import {
  deadLetterCondition,
  mutationCondition,
  recordCondition,
  type Condition,
  type Subject,
} from './subject.ts'
import {
  hasTombstone,
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

/** The table with the tombstones that count for the rows of a table. */
const tombstonesOf = (table: ErasedTable) => (table === 'attachments_raw' ? 'feedback_raw' : table)

/** What one erasure deletes: the rows of a subject, if there is one, and those with a tombstone. */
export interface ErasureScope {
  subject: Subject | undefined
  /** Only tombstones that were written since then. Default: all. */
  since?: Date | undefined
}

const erased = (table: ErasedTable, range: string, since: Date | undefined) => {
  const owner = tombstonesOf(table)
  const isErased = `${range} AND (${keyOf(owner)}) IN (${tombstones(owner, range, since)})`
  return table === owner ? `ver < ${tombstoneVer} AND ${isErased}` : isErased
}

/** A version is hidden if another subject's is visible, or would be without an old tombstone. */
const hidden = (table: RecordTableName, range: string, condition: string) =>
  `ver < ${tombstoneVer} AND ${range} AND ${condition} AND (${identity}) IN (
     SELECT ${identity} FROM intake.${table}
     WHERE ver < ${tombstoneVer} AND ${range} AND (${identity}) IN (
       SELECT ${identity} FROM intake.${table} WHERE ${range} AND ${condition})
     GROUP BY ${identity}
     HAVING NOT argMax(${condition}, (ver, ${condition})))`

/** Selects the rows that still have a payload although their record has a tombstone, in ranges. */
async function erasedRows(
  clickhouse: Pick<ClickHouse, 'query'>,
  table: ErasedTable,
  since: Date | undefined,
): Promise<Condition[]> {
  const owner = tombstonesOf(table)
  const ranges = await divideRows(clickhouse, owner, hasTombstone(owner, since))
  return ranges.map((range) => ({ sql: erased(table, range, since), params: {} }))
}

/**
 * Starts to delete the rows of records with a tombstone, and the subject's hidden versions of
 * records (see `hidden`). Resolves to the number of these rows once the deletion has started, or at
 * the deadline; `untilDeleted` waits for its end.
 */
export async function startDeletion(
  clickhouse: Sql,
  wait: Wait,
  { subject, since }: ErasureScope,
): Promise<number> {
  let rows = 0
  // Each replica deletes the rows whose tombstones it has, so every replica must have all
  // tombstones.
  await syncReplicas(clickhouse, erasedTables)
  for (const table of erasedTables) {
    for (const condition of await erasedRows(clickhouse, table, since)) {
      rows += await maskRows(clickhouse, wait, { table, found: condition, removed: condition })
    }
  }
  // The device is part of the identity of a record. So a version of one device never hides a
  // version of another device.
  if (subject !== undefined && subject.kind !== 'device') {
    const named = recordCondition(subject)
    const unnamed = mutationCondition(subject, randomUUID())
    for (const table of recordTables) {
      for (const range of await divideRows(clickhouse, table, named)) {
        const found = { ...named, sql: hidden(table, range, named.sql) }
        const removed = { ...unnamed, sql: hidden(table, range, unnamed.sql) }
        rows += await maskRows(clickhouse, wait, { table, found, removed })
      }
    }
  }
  for (const table of erasedTables) await removeMasked(clickhouse, table)
  return rows
}

/**
 * Hides rows by a mask, which ClickHouse writes without the other columns. So a part with rows in
 * many ranges is rewritten once, by `removeMasked`. Waits for the mask: ClickHouse does mutations
 * that wait for each other at once, with the memory of all.
 */
async function maskRows(
  clickhouse: Sql,
  wait: Wait,
  rows: { table: ErasedTable; found: Condition; removed: Condition },
): Promise<number> {
  const { table, found, removed } = rows
  if (performance.now() >= wait.deadline) return 0
  const number = await countRows(clickhouse, stored(table, found.sql), found.params)
  if (number === 0) return 0
  const mask = `UPDATE _row_exists = 0 WHERE ${removed.sql}
     SETTINGS mutations_sync = 0, allow_nondeterministic_mutations = 1`
  await clickhouse.command(alterStored(clickhouse, table, mask), removed.params)
  await untilRewritten(clickhouse, [storedTable(clickhouse, table)], wait)
  return number
}

/** Starts to rewrite the parts with masked rows, also those of a run that was killed. */
async function removeMasked(clickhouse: Sql, table: ErasedTable): Promise<void> {
  if ((await countMasked(clickhouse, [table])) === 0) return
  const remove = 'APPLY DELETED MASK SETTINGS mutations_sync = 0'
  await clickhouse.command(alterStored(clickhouse, table, remove))
}

/**
 * Counts the parts with masked rows. They remain if another erasure masked them meanwhile, or if a
 * replica learnt of a mask after `removeMasked`. No other statement finds these rows.
 */
export function countMasked(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  tables: readonly ErasedTable[] = erasedTables,
): Promise<number> {
  return countRows(
    clickhouse,
    `FROM ${systemTable(clickhouse, 'parts')}
     WHERE database = 'intake' AND table IN {tables:Array(String)} AND active AND has_lightweight_delete`,
    { tables: tables.map((table) => storedTable(clickhouse, table)) },
  )
}

const rewritePollMs = 100
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
  const tables = [...payloads, ...countTables]
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
async function untilRewritten(
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
    progress(`${quantity(parts, 'part')} to rewrite${failure && `: ${failure}`}`)
    await pause(rewritePollMs)
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
  { subject, since }: ErasureScope,
  receivedBefore: Date = new Date(),
): Promise<number> {
  let rows = 0
  for (const table of erasedTables) {
    for (const { sql } of await erasedRows(clickhouse, table, since)) {
      rows += await countRows(clickhouse, stored(table, sql))
    }
  }
  if (subject === undefined) return rows
  const { sql, params } = recordCondition(subject)
  const where = `ver < ${tombstoneVer} AND ${sql} AND received_at <= {before:DateTime64(3, 'UTC')}`
  for (const table of recordTables) {
    const all = { ...params, before: sqlTime(receivedBefore) }
    rows += await countRows(clickhouse, stored(table, where), all)
  }
  return rows
}
