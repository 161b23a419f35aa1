import { html, type Html } from '../html.ts'
import { searchLengthMax, type Search } from '../search.ts'
import { withApp } from './links.ts'

const labels = {
  text: 'Text or e-mail contains',
  event: 'Event',
  version: 'Version',
  user: 'User',
  device: 'Device',
} as const
export type FilterField = keyof typeof labels

/** The names that the form suggests for each field. Clients have sent these names. */
export type Suggestions = Partial<Record<FilterField, readonly string[]>>

/** The form that narrows a list, filled in with the search of the list. */
export function filterForm(options: {
  path: string
  fields: readonly FilterField[]
  search: Search
  suggestions?: Suggestions
  /** Fields that keep their value although they are not shown. */
  hidden?: Readonly<Record<string, string | undefined>>
}): Html {
  const { path, fields, search, suggestions = {}, hidden = {} } = options
  const inputs = fields.map((name) => {
    const list = suggestions[name] === undefined ? undefined : html` list="${name}s"`
    return html`<label${name === 'text' ? html` class="big-field"` : undefined}>${labels[name]}
      <input name="${name}" value="${search[name]}" maxlength="${searchLengthMax}" autocomplete="off"${list}${search.without === name ? html` placeholder="none"` : undefined} /></label>`
  })
  const kept = Object.entries({ ...hidden, app: search.application }).map(([name, value]) =>
    value === undefined ? undefined : html`<input type="hidden" name="${name}" value="${value}" />`,
  )
  const lists = fields.map((name) => {
    const names = suggestions[name]
    if (names === undefined) return undefined
    return html`<datalist id="${name}s">
      ${names.map((one) => html`<option value="${one}"></option>`)}
    </datalist>`
  })
  return html`<form class="filter" action="${path}" role="search" aria-label="Filter">
    ${inputs}${kept}<button class="outline">Filter</button>
    <a href="${withApp(path, search.application)}">Reset</a>${lists}
  </form>`
}
