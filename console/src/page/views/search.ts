import type { RecordKind } from '@intake/contract'
import { plural } from '@intake/runtime'
import { perKindMax, type Match, type Matches } from '../find-anything.ts'
import { clientText, html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import { isCutName, nameMax, type Found, type RecordHead } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { applicationPath, appTag, exactPath, listLink, listPath, timeTag } from './links.ts'
import { card, list } from './parts.ts'

const headings = {
  event: 'Events',
  param: 'Params',
  application: 'Applications',
  user: 'Users',
} as const

export function searchView(header: Header, query: string, { found, near }: Matches): Html {
  const kinds = Object.keys(headings) as Match['kind'][]
  const groups = kinds.map((kind) => {
    const rows = found.filter((one) => one.kind === kind)
    const most = rows.length >= perKindMax && html` <small>the most frequent ${perKindMax}</small>`
    return rows.length > 0 && card(html`${headings[kind]}${most}`, matchList(rows))
  })
  return document({
    header,
    title: 'Search',
    heading: query === '' ? 'Search' : html`Search for ${clientText(query, 100)}`,
    query,
    body:
      found.length > 0
        ? html`${groups}${query.includes('@') && html`<p>${listLink('feedback', { application: header.app, text: query }, 'Feedback with this text')}</p>`}`
        : html`${card(
            query === '' ? 'What can be found' : 'Nothing has this name or id',
            'An id, an e-mail address, a user or device, or a part of the name of an event, param or application.',
          )}
          ${nearCard(near)}`,
  })
}

export const nearCard = (near: readonly Match[]): Html | undefined =>
  near.length === 0 ? undefined : card('Names like it', matchList(near))

const matchList = (matches: readonly Match[]): Html | undefined =>
  list(
    matches.map((match) => {
      const { application, kind, name, event, events } = match
      const shown = html`${kind === 'param' && html`${clientText(event, nameMax)} · `}${clientText(name.replaceAll('%2E', '.'), nameMax)}`
      return html`${[name, event].some(isCutName) ? shown : html`<a href="${pathOf(match)}">${shown}</a>`}
        ${kind !== 'application' && appTag(application)}
        <small>${wholeNumber(events)} ${plural(events, 'event')} in 30 days</small>`
    }),
  )

function pathOf({ kind, application, event, name, events }: Match): string {
  if (kind === 'application') return applicationPath(application)
  const search = { application, period: '30d' } as const
  if (kind !== 'user') return listPath('logs', { ...search, event })
  return listPath(events === 0 ? 'feedback' : 'logs', { ...search, user: name })
}

export function foundList(header: Header, found: Record<RecordKind, Found<RecordHead>>): Html {
  const { feedback, logs } = found
  const isCut = feedback.unread !== undefined || logs.unread !== undefined
  const total = feedback.rows.length + logs.rows.length
  return document({
    header,
    title: total === 0 ? 'Nothing found' : 'Found',
    body: html`${listOf('feedback', feedback.rows, header.app)}${listOf('logs', logs.rows, header.app)}
      <p>
        ${total === 0 ? 'No record, dead letter, request or device has this id.' : `${total} found.`}
        ${isCut && 'The search took long and was ended; older records were not searched.'}
      </p>`,
  })
}

function listOf(kind: RecordKind, heads: readonly RecordHead[], app?: string): Html | undefined {
  if (heads.length === 0) return undefined
  const items = heads.map(
    (head) =>
      html`<a href="${exactPath(kind, head, app)}">${timeTag(head.time)}</a>
        ${clientText(head.bundle_identifier, 300)} ${head.id}, device ${head.device_uuid}`,
  )
  return card(kind === 'feedback' ? 'Feedback' : 'Events', list(items))
}
