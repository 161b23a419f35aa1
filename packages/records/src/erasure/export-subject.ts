import { hash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ClickHouse, QueryParams } from '@intake/clickhouse'
import { parseAttachmentKey } from '@intake/contract'
import { tryJson } from '@intake/runtime'
import { identity, tombstoneVer } from '@intake/schema'
import { rowsAfter, type OrderColumn } from '../rows-after.ts'
import type { Services } from '../services.ts'
import { divideRows } from './divide-rows.ts'
import { deadLetterCondition, recordCondition, type Subject } from './subject.ts'
import {
  keyOf,
  recordTables,
  tombstones,
  type PayloadTable,
  type RecordTableName,
} from './tombstones.ts'
import { waitingFrames } from './waiting-rows.ts'

export interface ExportReport {
  records: number
  attachments: number
  /** Attachments that are missing or damaged, and frames in Redis that cannot be read. */
  damaged: string[]
}

/** Writes one line of JSON for each version of a record, and attachments if there is a folder. */
export async function exportSubject(options: {
  services: Services
  subject: Subject
  write: (line: string) => Promise<void>
  folder: string | undefined
}): Promise<ExportReport> {
  const { services, subject, write, folder } = options
  const report: ExportReport = { records: 0, attachments: 0, damaged: [] }
  const print = async ({ json, attachments = [] }: ExportedRow) => {
    report.records++
    await write(json)
    if (folder === undefined) return
    for (const attachment of attachments) {
      if (await save(services, folder, attachment)) report.attachments++
      else report.damaged.push(attachment.key)
    }
  }
  // Frames are read before the tables. If a frame is stored between these two steps, its rows are
  // then found in the tables.
  const waiting = await readWaiting(services, subject, report)
  for await (const row of exportRows(services.clickhouse, subject)) {
    waiting.delete(identityOf(row))
    await print(row)
  }
  for (const row of waiting.values()) await print(row)
  return report
}

async function readWaiting(
  { redis }: Services,
  subject: Subject,
  report: ExportReport,
): Promise<Map<string, ExportedRow>> {
  const waiting = new Map<string, ExportedRow>()
  for await (const { kind, rows } of waitingFrames(redis, subject)) {
    const head = `{"kind":"${kind === 'logs' ? 'log' : kind}","state":"waiting",`
    // It may have rows of the subject.
    if (rows === undefined) report.damaged.push(`a frame of ${kind} in Redis`)
    for (const row of rows ?? []) {
      const { bundle_identifier, time, id, device_uuid, attachments } = JSON.parse(
        row,
      ) as ExportedRow
      const json = head + row.slice(1)
      const kept = { json, bundle_identifier, time, id, device_uuid, attachments }
      waiting.set(identityOf(kept), kept)
    }
  }
  return waiting
}

const identityOf = ({ bundle_identifier, id, device_uuid }: ExportedRow) =>
  JSON.stringify([bundle_identifier, id, device_uuid.toLowerCase()])

/** Resolves to false if the object is missing or has another hash, or its key another form. */
async function save(
  { objects }: Services,
  folder: string,
  { key, sha256 }: { key: string; sha256: string },
): Promise<boolean> {
  // Accepts only keys in the gateway's form, because a key must not lead out of the folder.
  const isKey = parseAttachmentKey(key) !== undefined
  const body = isKey ? await objects.get(key) : undefined
  if (body === undefined || hash('sha256', body) !== sha256) return false
  const file = join(folder, key)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, body, { mode: 0o600 })
  return true
}

/** A stored version of a record, a dead letter, or a row that waits in Redis. */
interface ExportedRow {
  /** The row as one line of JSON; its first members are `kind` and `state`. */
  json: string
  bundle_identifier: string
  time: string
  id: string
  device_uuid: string
  /** The key and SHA-256 of each object of the row; undefined if the row lists none. */
  attachments: { key: string; sha256: string }[] | undefined
}

/** A row as ClickHouse prints it; that of a dead letter has the rejected one in `row`. */
type ReadRow = Omit<ExportedRow, 'json'> & { ver: number; row?: string }

const pageRows = 100
/** Each page searches all rows of its range, for their other versions. */
const rangeRows = 10_000

/** Each version once: `visible` to analysts, `superseded` by another, or `rejected`. */
async function* exportRows(
  clickhouse: Pick<ClickHouse, 'lines' | 'query'>,
  subject: Subject,
): AsyncGenerator<ExportedRow> {
  const records = recordCondition(subject)
  for (const table of recordTables) {
    for (const range of await divideRows(clickhouse, table, records, rangeRows)) {
      const page = recordPage(table, `${range} AND ${records.sql}`, range)
      yield* pages(clickhouse, table, page, records.params)
    }
  }
  const letters = deadLetterCondition(subject)
  const page = `'dead_letter' AS kind, 'rejected' AS state, * EXCEPT (is_deleted)
    FROM intake.dead_letters_raw FINAL WHERE ${letters.sql}`
  yield* pages(clickhouse, 'dead_letters_raw', page, letters.params)
}

function recordPage(table: RecordTableName, rows: string, range: string): string {
  const kind = table === 'logs_raw' ? 'log' : 'feedback'
  const theirs = `${range} AND (${identity}) IN (SELECT ${identity} FROM intake.${table} WHERE ${rows})`
  return `'${kind}' AS kind,
    if((${identity}, ver) IN (
      SELECT ${identity}, max(ver) FROM intake.${table}
      WHERE ${theirs}
      GROUP BY ${identity}
    ), 'visible', 'superseded') AS state, * EXCEPT (is_deleted)
    FROM intake.${table}
    WHERE ver < ${tombstoneVer} AND ${rows} AND (${identity}) NOT IN (${tombstones(table, theirs)})`
}

async function* pages(
  clickhouse: Pick<ClickHouse, 'lines'>,
  table: PayloadTable,
  select: string,
  params: QueryParams,
): AsyncGenerator<ExportedRow> {
  const order = `${keyOf(table)}, ver`
  let after: ReadRow | undefined
  do {
    const rest = rowsAfter(order.split(', ') as OrderColumn[], after)
    const lines = await clickhouse.lines(
      `SELECT ${select} AND ${rest.sql}
       ORDER BY ${order} LIMIT 1 BY ${order} LIMIT ${pageRows}`,
      { ...params, ...rest.params },
    )
    after = undefined
    for (const json of lines) {
      const row = JSON.parse(json) as ReadRow
      yield { ...row, attachments: row.attachments ?? attachmentsOfLetter(row.row), json }
      if (lines.length === pageRows) after = row
    }
  } while (after !== undefined)
}

/** The row of a dead letter may have any content. */
function attachmentsOfLetter(row = ''): ExportedRow['attachments'] {
  const { attachments } = Object(tryJson(row)) as Partial<ExportedRow>
  const isListed = (one: unknown) =>
    typeof (one as Partial<{ key: string }> | null)?.key === 'string'
  return Array.isArray(attachments) ? attachments.filter(isListed) : undefined
}
