import type { RecordKind } from '@intake/contract'
import { html, type Html } from '../html.ts'
import type { Found, RecordHead } from '../records.ts'
import { localTime } from '../zone.ts'
import { printSearch, type ListSearch } from '../search.ts'
import { cursorOf, listLink } from './links.ts'

export function nextPage(kind: RecordKind, search: ListSearch, found: Found<RecordHead>): Html {
  const last = found.rows.at(-1)
  const { after: _, ...rest } = search
  const newest = search.after && html`${listLink(kind, rest, 'Newest')} `
  if (found.hasMore && last !== undefined) {
    const next = listLink(kind, { ...search, after: cursorOf(last) }, 'Older')
    return html`<p class="pages">${newest}${next}</p>`
  }
  if (found.unread !== undefined) {
    const to = new Date(found.unread.to)
    const next = listLink(kind, { ...rest, to }, 'Search further back')
    return html`<p class="pages">
      Searched back to ${localTime(to.getTime()).slice(0, 16)}, which took long. ${newest}${next}
    </p>`
  }
  const none = printSearch(search) === '' ? 'None yet.' : 'Nothing matches.'
  return html`<p class="pages">${newest}${found.rows.length === 0 ? none : 'These are all.'}</p>`
}
