import type { ClickHouse, QueryParams } from '@intake/clickhouse'
import { identity } from '../identity.ts'
import { rowsAfter, type OrderColumn } from '../rows-after.ts'
import { deadLetterCondition, recordCondition, type Condition, type Subject } from './subject.ts'
import {
  keyOf,
  tombstones,
  tombstoneVer,
  type PayloadTable,
  type RecordTableName,
} from './tombstones.ts'

/** A stored version of a record, or a dead letter. */
export interface ExportedRow {
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

/** Each version once: `visible` to analysts, `superseded` by another, or `rejected`. */
export async function* exportRows(
  clickhouse: Pick<ClickHouse, 'lines'>,
  subject: Subject,
): AsyncGenerator<ExportedRow> {
  const records = recordCondition(subject)
  yield* pages(clickhouse, 'logs_raw', recordPage('log', 'logs_raw', records), records.params)
  yield* pages(
    clickhouse,
    'feedback_raw',
    recordPage('feedback', 'feedback_raw', records),
    records.params,
  )
  const letters = deadLetterCondition(subject)
  const page = `'dead_letter' AS kind, 'rejected' AS state, * EXCEPT (is_deleted)
    FROM intake.dead_letters_raw FINAL WHERE ${letters.sql}`
  yield* pages(clickhouse, 'dead_letters_raw', page, letters.params)
}

function recordPage(kind: string, table: RecordTableName, { sql }: Condition): string {
  return `'${kind}' AS kind,
    if((${identity}, ver) IN (
      SELECT ${identity}, max(ver) FROM intake.${table}
      WHERE (${identity}) IN (SELECT ${identity} FROM intake.${table} WHERE ${sql})
      GROUP BY ${identity}
    ), 'visible', 'superseded') AS state, * EXCEPT (is_deleted)
    FROM intake.${table}
    WHERE ver < ${tombstoneVer} AND ${sql} AND (${identity}) NOT IN (${tombstones(table)})`
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
function attachmentsOfLetter(row = 'null'): ExportedRow['attachments'] {
  try {
    const { attachments } = JSON.parse(row) as Partial<ExportedRow>
    const isListed = (one: unknown) =>
      typeof (one as Partial<{ key: string }> | null)?.key === 'string'
    return Array.isArray(attachments) ? attachments.filter(isListed) : undefined
  } catch {
    return undefined
  }
}
