import { filterWord, isTypable, printTerm } from '../filter-words.ts'
import { clientText, html, type Html, type HtmlValue } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { NameCount } from '../read-counts.ts'
import { localTime } from '../zone.ts'
import { printSearch, type ListSearch } from '../search.ts'
import { hiddenFields, textField } from './document.ts'
import { list } from './parts.ts'

/** Names that clients have sent and that the field suggests, by their word. */
export type Suggestions = Readonly<Record<'event' | 'version', readonly NameCount[]>>

const ofEvents = 'event:crash params.screen:cart'
const examples = {
  '/live': ofEvents,
  '/events': ofEvents,
  '/feedback': 'words of a text, version:3.5.0 has:pictures',
} as const

/** Each condition of a search is a chip that removes it. */
export function filterForm(options: {
  path: keyof typeof examples
  search: ListSearch
  suggestions?: Suggestions | undefined
}): Html {
  const { path, suggestions } = options
  const search = { ...options.search, after: undefined }
  const fields = [...new URLSearchParams(printSearch(search))]
  const without = (names: readonly string[]) =>
    `${path}?${new URLSearchParams(fields.filter(([name]) => !names.includes(name))).toString()}`
  const chip = (names: readonly string[], content: HtmlValue) =>
    html`<a href="${without(names)}"
      ><span class="vh">remove </span>${content} <span aria-hidden="true">×</span></a
    >`
  const chips = fields.flatMap(([name, value]) => {
    const word = name === 'app' ? undefined : filterWord(name)
    if (word === undefined) return []
    return chip([name], html`${clientText(word, 100)}:<b>${clientText(value, 100)}</b>`)
  })
  const printed = (time: Date | undefined) => (time ? localTime(time.getTime()).slice(0, 16) : '…')
  const { from, to } = search
  if (from || to) chips.push(chip(['from', 'to'], `${printed(from)} to ${printed(to)}`))
  const names = Object.entries(suggestions ?? {}).flatMap(([word, rows]) =>
    rows.map(
      ({ name, count }) =>
        isTypable(name) &&
        html`<option value="${printTerm(word, name)}">${wholeNumber(count)}</option>`,
    ),
  )
  return html`<form class="filter" action="${path}" role="search" aria-label="Filter">
    ${list(chips, 'chips')}
    <label class="vh" for="filter">Filter by words</label>
    ${textField('filter', examples[path], html`list="names"`)}${hiddenFields(fields)}<datalist
      id="names"
    >
      ${names}</datalist
    ><button class="outline">Filter</button>
  </form>`
}
