import { html, type Html, type HtmlValue } from './html.ts'
import { wholeNumber } from './numbers.ts'

type Column<Row> = readonly [
  title: HtmlValue,
  /** A number is printed with separators. */
  cell: (row: Row) => HtmlValue,
  /** `num` is at the end of its cell, `hide` is left out on a phone. */
  className?: 'num' | 'hide',
]

/**
 * A table; "None." if it has no rows. In a narrow card the rows of a stacked one become blocks, and
 * each cell has the title of its column before it. If a table is still wider than the window, it
 * scrolls separately from the page.
 */
export function table<Row>(
  label: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { isStacked = true } = {},
): Html {
  if (rows.length === 0) return html`<p class="mute">None.</p>`
  const classOf = (name?: string) => name && html` class="${name}"`
  const print = (value: HtmlValue) => (typeof value === 'number' ? wholeNumber(value) : value)
  const cells = (row: Row) =>
    columns.map(([title, cell, name], index) => {
      const label = isStacked && index > 0 && html` data-label="${title}"`
      return html`<td${classOf(name)}${label || undefined}>${print(cell(row))}</td>`
    })
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
    <table ${isStacked ? html`class="stack"` : undefined}>
      <thead>
        <tr>
          ${columns.map(([title, , name]) => html`<th${classOf(name)}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${cells(row)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
