import { conditionsOf } from './list-records.ts'
import { inWindow, windowParams } from './period.ts'
import type { TimeWindow } from './read-in-windows.ts'
import { querySettings, type RecordReader } from './records.ts'
import type { Search } from './search.ts'

/** ClickHouse gives a reader of the page no more rows for one query. */
const rowsMax = 1_000

/** Columns of the file: the name of each and its SQL. */
const columns = {
  time: 'time',
  written: 'toString(extra.feedback.timestamp)',
  application: 'bundle_identifier',
  version: 'device.version_name',
  os: 'device.os',
  model: 'device.device_model',
  country: 'country',
  user: 'unique_user_id',
  email: 'email',
  text: 'substringUTF8(text, 1, 4000)',
  pictures: 'attachment_count',
  extra: 'substringUTF8(toJSONString(extra), 1, 2000)',
  id: 'id',
} as const
type Row = Record<`${keyof typeof columns}_`, string | number | null>

/** The feedback that matches, newest first, at most a thousand, as a file for spreadsheets. */
export async function readFeedbackCsv(
  reader: RecordReader,
  search: Search,
  window: TimeWindow,
): Promise<string> {
  const { after: _, from: __, to: ___, ...filter } = search
  const { conditions, params } = conditionsOf(filter)
  const names = Object.keys(columns) as (keyof typeof columns)[]
  const rows = await reader.query<Row>(
    `SELECT ${names.map((name) => `${columns[name]} AS ${name}_`).join(', ')}
     FROM intake.feedback
     WHERE ${[inWindow('time'), ...conditions].join(' AND ')}
     ORDER BY time DESC, id DESC LIMIT ${rowsMax} ${querySettings}`,
    { ...params, ...windowParams(window) },
  )
  return [
    names.join(','),
    ...rows.map((row) => names.map((name) => cell(row[`${name}_`])).join(',')),
  ]
    .map((line) => `${line}\r\n`)
    .join('')
}

/** A cell. A spreadsheet would run a text that begins like a formula: it gets a quote before it. */
function cell(value: string | number | null): string {
  const text = String(value ?? '')
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
