import { clientText } from '../client-text.ts'
import { filterWord, printTerm } from '../filter-words.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { NameCount } from '../read-counts.ts'
import { localTime } from '../zone.ts'
import { printSearch, searchLengthMax, type ListSearch } from '../search.ts'

/** Names that clients have sent and that the field suggests, by their word. */
export type Suggestions = Readonly<Record<'event' | 'version', readonly NameCount[]>>

const examples = {
  '/live': 'event:crash version:3.5.0 params.screen:cart',
  '/events': 'event:crash version:3.5.0 params.screen:cart',
  '/feedback': 'words of a text, version:3.5.0 has:pictures',
} as const

/**
 * The filter of a list: each condition of its search as a chip that removes it, and a field for
 * another one.
 */
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
  const chip = (names: readonly string[], content: Html) =>
    html`<li>
      <a href="${without(names)}"
        ><span class="vh">remove </span>${content} <span aria-hidden="true">×</span></a
      >
    </li>`
  const { from, to } = search
  const period = [from, to].map((time) =>
    time === undefined ? '…' : localTime(time.getTime()).slice(0, 16),
  )
  const chips = [
    ...fields.flatMap(([name, value]) => {
      const word = filterWord(name)
      return word === undefined || name === 'app'
        ? []
        : [chip([name], html`${clientText(word, 100)}:<b>${clientText(value, 100)}</b>`)]
    }),
    ...(from === undefined && to === undefined
      ? []
      : [chip(['from', 'to'], html`${period.join(' to ')}`)]),
  ]
  const names = Object.entries(suggestions ?? {}).flatMap(([word, list]) =>
    list.map(
      ({ name, count }) =>
        html`<option value="${printTerm(word, name)}">${wholeNumber(count)}</option>`,
    ),
  )
  return html`<form class="filter" action="${path}" role="search" aria-label="Filter">
    <ul class="chips">
      ${chips}
    </ul>
    <label class="vh" for="filter">Filter by words</label>
    <input
      id="filter"
      name="filter"
      list="names"
      maxlength="${searchLengthMax}"
      placeholder="${examples[path]}"
      autocomplete="off"
      spellcheck="false"
    />${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}<datalist
      id="names"
    >
      ${names}</datalist
    ><button class="outline">Filter</button>
  </form>`
}
