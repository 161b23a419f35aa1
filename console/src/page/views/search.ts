import { plural } from '@intake/runtime'
import { clientText } from '../client-text.ts'
import type { Match, Matches } from '../find-anything.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import { nameMax } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { applicationPath, applicationTag, listPath } from './links.ts'
import { card, list } from './parts.ts'

const headings = {
  event: 'Events',
  param: 'Params',
  application: 'Applications',
  user: 'Users',
} as const

/** What was found by name, with counts; if nothing was found, what is near. */
export function searchView(header: Header, query: string, { found, near }: Matches): Html {
  const kinds = Object.keys(headings) as Match['kind'][]
  const groups = kinds.map((kind) => {
    const rows = found.filter((one) => one.kind === kind)
    return rows.length === 0 ? undefined : card(headings[kind], matchList(rows))
  })
  return document({
    header,
    title: 'Search',
    heading: query === '' ? 'Search' : html`Search for ${clientText(query, 100)}`,
    query,
    body:
      found.length > 0
        ? groups
        : html`<p>
              ${query === '' ? undefined : 'Nothing has this name or id. '}Search for an id, an
              e-mail address, a user or device, or a part of the name of an event, param or
              application.
            </p>
            ${nearCard(near)}`,
  })
}

/** Names like one that was not found; undefined if there is none. */
export const nearCard = (near: readonly Match[]): Html | undefined =>
  near.length === 0 ? undefined : card('Names like it', matchList(near))

const matchList = (matches: readonly Match[]): Html =>
  list(
    matches.map((match) => {
      const { application, kind, name, event, events } = match
      const shown = html`${kind === 'param' ? html`${clientText(event, nameMax)} · ` : undefined}${clientText(name.replaceAll('%2E', '.'), nameMax)}`
      return html`${isWhole(match) ? html`<a href="${pathOf(match)}">${shown}</a>` : shown}
        ${kind === 'application' ? undefined : applicationTag(application)}
        <small>${wholeNumber(events)} ${plural(events, 'event')} in 30 days</small>`
    }),
  )

/** A name that was cut has no link: a search for it would find nothing. */
const isWhole = ({ name, event }: Match): boolean =>
  [name, event].every((one) => Array.from(one).length <= nameMax)

function pathOf({ kind, application, event, name }: Match): string {
  if (kind === 'application') return applicationPath(application)
  const period = '30d' as const
  return listPath('logs', {
    application,
    period,
    ...(kind === 'user' ? { user: name } : { event }),
  })
}
