import { visibleJson, visibleText } from '@intake/runtime'
import { readLongRows, whereOf } from './list-records.ts'
import type { TimeWindow } from './period.ts'
import { type RecordReader } from './records.ts'
import { withoutPeriod, type Search } from './search.ts'

/** ClickHouse gives a reader of the page no more rows for one query. */
export const csvRowsMax = 1_000

const columns = {
  time: 'time',
  written: 'substringUTF8(toString(extra.feedback.timestamp), 1, 100)',
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

/** The feedback that matches, newest first, at most a thousand. Excel needs the byte order mark. */
export async function readFeedbackCsv(
  reader: RecordReader,
  search: Search,
  window: TimeWindow,
): Promise<string> {
  const names = Object.keys(columns) as (keyof typeof columns)[]
  const rows = await readLongRows<Row>(reader, 'feedback', {
    ...whereOf(withoutPeriod(search), window),
    columns: names.map((name) => `${columns[name]} AS ${name}_`).join(', '),
    orderBy: 'time DESC, id DESC',
    rowsMax: csvRowsMax,
  })
  const lines = rows.map((row) => names.map((name) => cell(name, row[`${name}_`])).join(','))
  return [`\uFEFF${names.join(',')}`, ...lines, ''].join('\r\n')
}

/** What a spreadsheet takes for the beginning of a formula; the last four are full-width forms. */
const formula = String.raw`[=+\-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}]`
/** At the beginning of the text, of a line, or of what is a cell with another separator. */
const formulaStart = new RegExp(
  String.raw`(^|[\n\t,;|])((?:(?![\n\t])[\s"'\p{Cf}])*)(?=${formula})`,
  'gu',
)

/** A spreadsheet would run a text that begins like a formula, so a quote is put before it. */
function cell(name: keyof typeof columns, value: string | number | null): string {
  const visible = name === 'extra' ? visibleJson : visibleText
  const text = visible(String(value ?? '')).replace(/^(?=\t)/, "'")
  const safe = text.replaceAll(formulaStart, "$1'$2")
  return `"${safe.replaceAll('"', '""')}"`
}
