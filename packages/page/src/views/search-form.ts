import type { RecordKind } from '@intake/contract'
import { html, type Html } from '../html.ts'
import { searchFields, searchLengthMax, type Search } from '../search.ts'
import { pathOf } from './links.ts'

const labels = {
  text: 'Text or e-mail contains',
  event: 'Event',
  application: 'Application',
  version: 'Version',
  user: 'User',
} as const

/** The search form, filled in with the search of the list. */
export function searchForm(kind: RecordKind, search: Search): Html {
  const fields = searchFields[kind].map(
    (name) =>
      html`<p>
        <label for="${name}">${labels[name]}</label>
        <input
          id="${name}"
          name="${name}"
          value="${search[name]}"
          maxlength="${searchLengthMax}"
          autocomplete="off"
        />
      </p> `,
  )
  const times = (['from', 'to'] as const).map(
    (name) =>
      html`<p>
        <label for="${name}">${name === 'from' ? 'From' : 'Before'} (UTC)</label>
        <input
          id="${name}"
          name="${name}"
          type="datetime-local"
          step="1"
          value="${inputTime(search[name])}"
        />
      </p> `,
  )
  const device =
    search.device &&
    html`<p>
      <label for="device">Device</label>
      <input id="device" name="device" value="${search.device}" size="36" />
    </p> `
  return html`<form class="search" action="${pathOf[kind]}" role="search" aria-label="Search">
    ${fields}${times}${device || undefined}
    <p><button>Search</button> <a href="${pathOf[kind]}">Reset</a></p>
  </form>`
}

/** The format of the input: UTC, to the second. */
function inputTime(time: Date | undefined): string | undefined {
  return time?.toISOString().slice(0, 19)
}
