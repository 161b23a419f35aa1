import { isBadEvent } from '../bad-events.ts'
import { reasonOf, type HowOften } from '../how-often.ts'
import { clientText, html, type Html } from '../html.ts'
import { percent, shortDuration, wholeNumber } from '../numbers.ts'
import type { FullRecord } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { localTime, zoneLabel } from '../zone.ts'
import { document } from './document.ts'
import { deviceSentence, feedbackPane, firstLine } from './feedback-pane.ts'
import { appLink, byName, deviceLink, listLink, listPath, msOf, timeTag, withApp } from './links.ts'
import { keyName, type KeyNames } from './outcomes.ts'
import { columnList, isEmpty } from './params.ts'
import { ago, badge, bars, card, details, facts } from './parts.ts'
import type { SignPicture } from './pictures.ts'
import { timeline, type RecordWithEvents } from './timeline.ts'

interface RecordOptions {
  header: Header
  found: RecordWithEvents
  /** Undefined for feedback, or if it could not be counted. */
  howOften: HowOften | undefined
  sign: SignPicture
  names: KeyNames
}

export function recordView(options: RecordOptions): Html {
  const { header, found } = options
  const { kind, columns } = found.record
  const { time, bundle_identifier } = columns
  const isFeedback = kind === 'feedback'
  const [path, name] = isFeedback ? ['/feedback', 'Feedback'] : ['/events', 'Events']
  const event = String(columns['event'])
  const reason = isFeedback ? undefined : reasonOf(found.record)
  const heading = isFeedback ? firstLine(String(columns['text'])) || 'No text' : reason?.text
  return document({
    header,
    view: isFeedback ? 'feedback' : 'events',
    title: isFeedback ? 'One feedback' : 'One event',
    heading: html`${clientText(heading ?? event, 300)}
      <small
        >${reason && badge(clientText(event, 100), isBadEvent(event) ? 'danger' : 'secondary')}
        ${timeTag(time, localTime(time))} ${zoneLabel(msOf(time))},
        ${ago(msOf(time), header.nowMs)}</small
      >`,
    crumbs: html`<a href="${withApp(path, header.app)}">${name}</a
      >${!isFeedback && html` · ${listLink('logs', { application: bundle_identifier, event }, 'all of this event')}`}`,
    body: html`${isFeedback && html`<article class="card big">${feedbackPane({ ...options, columns })}</article>`}
      <div class="grid split">
        <div>${!isFeedback && params(found.record)} ${timeline(found, header.app)}</div>
        <aside class="grid">${howOftenCard(options)} ${who(options)}</aside>
      </div>`,
  })
}

const params = ({ columns }: FullRecord): Html =>
  card(
    'Params',
    columnList((columns['params'] ?? {}) as Record<string, unknown>, {
      depth: 1,
      hrefOf: (name, value) =>
        listPath('logs', {
          application: columns.bundle_identifier,
          paths: { [`params.${name}`]: value },
        }),
    }),
  )

function howOftenCard({ header, howOften, found }: RecordOptions): Html | undefined {
  if (howOften === undefined || howOften.events === 0) return undefined
  const { search, events, devices, first, last, versions } = howOften
  const reason = reasonOf(found.record)
  return card(
    html`How often <small>last 30 days</small>`,
    html`${facts([
      [
        'Events',
        listLink(
          'logs',
          { ...search, period: '30d' },
          html`${wholeNumber(events)}${reason && ' with this reason'}`,
        ),
      ],
      ['Devices', wholeNumber(devices)],
      ['First', timeTag(first, ago(msOf(first), header.nowMs))],
      ['Last', timeTag(last, ago(msOf(last), header.nowMs))],
    ])}
    ${bars(
      versions,
      ({ name }) => listPath('logs', { ...search, ...byName('version', name), period: '30d' }),
      {
        series: isBadEvent(String(search.event)) ? 'dead' : 'events',
        noteOf: ({ count }) => percent(count / events),
      },
    )}`,
  )
}

const shownColumns = new Set(
  `time received_at bundle_identifier unique_user_id api_key_id country device
  event params text email attachments attachment_count`.split(/\s+/),
)

function who({ header: { app }, found, names }: RecordOptions): Html {
  const { kind, columns } = found.record
  const { time, bundle_identifier, country } = columns
  const device = (columns['device'] ?? {}) as Record<string, unknown>
  const rest = Object.entries(columns).filter(
    ([name, value]) =>
      !shownColumns.has(name) && !isEmpty(value) && !(name === 'sample_rate' && value === 1),
  )
  const [user, key, arrived] = ['unique_user_id', 'api_key_id', 'received_at'].map((column) =>
    String(columns[column]),
  ) as [string, string, string]
  return card(
    'Record',
    html`${facts([
      ['Application', appLink(bundle_identifier)],
      ['User', listLink(kind, { application: app, user }, clientText(user, 300))],
      [
        'Device',
        html`${clientText(deviceSentence(device), 300)}<br />${deviceLink('logs', columns, 'its events')},
          ${deviceLink('feedback', columns, 'its feedback')}`,
      ],
      ['Country', typeof country === 'string' ? clientText(country, 10) : undefined],
      ['API key', listLink(kind, { application: app, key }, keyName(key, names))],
      ['Arrived', `${localTime(arrived)}, ${delay(msOf(arrived) - msOf(time))}`],
    ])}
    ${details(
      'Ids and all fields',
      columnList(
        { ...Object.fromEntries(rest), ...device },
        {
          hrefOf: (column, q) =>
            column === 'request_id' ? withApp('/search', app, { q }) : undefined,
        },
      ),
    )}`,
  )
}

const delay = (ms: number): string => {
  if (Math.abs(ms) < 1_000) return 'within a second'
  return `${shortDuration(Math.abs(ms) / 1_000)} ${ms < 0 ? 'before' : 'after'} it happened`
}
