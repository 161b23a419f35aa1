import { html, type Html, type HtmlValue } from './html.ts'
import { wholeNumber } from './numbers.ts'

type Column<Row> = readonly [
  title: HtmlValue,
  /** A number is printed with separators. */
  cell: (row: Row) => HtmlValue,
  /** `num` is at the end of its cell, `hide` is left out on a phone. */
  className?: 'num' | 'hide',
]

interface TableOptions {
  isStacked?: boolean
  sort?: string | undefined
  /** Returns the link that sorts by a column; only columns of numbers get one. */
  sortedBy?: (title: string) => string
}

/** Rows of a stacked table become blocks in a narrow card; others scroll apart from the page. */
export function table<Row>(
  label: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { isStacked = true, sort, sortedBy }: TableOptions = {},
): Html {
  if (rows.length === 0) return html`<p class="mute">None.</p>`
  const classOf = (name?: string) => name && html` class="${name}"`
  const print = (value: HtmlValue) => (typeof value === 'number' ? wholeNumber(value) : value)
  const isNumber = ([, cell]: Column<Row>) => rows.every((row) => typeof cell(row) === 'number')
  const sorting = columns.find((column) => column[0] === sort && isNumber(column))
  const sorted = sorting
    ? rows.toSorted((a, b) => Number(sorting[1](b)) - Number(sorting[1](a)))
    : rows
  const headOf = (column: Column<Row>) => {
    const [title] = column
    if (sortedBy === undefined || !isNumber(column)) return title
    const current = column === sorting && html`aria-current="true"`
    return html`<a href="${sortedBy(String(title))}" ${current}>${title}</a>`
  }
  const cellsOf = (row: Row) =>
    columns.map(([title, cell, name], index) => {
      const labelled = isStacked && index > 0 && html` data-label="${title}"`
      return html`<td${classOf(name)}${labelled || undefined}>${print(cell(row))}</td>`
    })
  const rowOf = (row: Row) =>
    html`<tr>
      ${cellsOf(row)}
    </tr>`
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
    <table ${isStacked ? html`class="stack"` : undefined}>
      <thead>
        <tr>
          ${columns.map((column) => html`<th${classOf(column[2])}>${headOf(column)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${sorted.map(rowOf)}
      </tbody>
    </table>
  </div>`
}
