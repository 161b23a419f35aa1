import { spark, type Series } from '../charts.ts'
import { clientText, html, type Html, type HtmlValue } from '../html.ts'
import { percent, wholeNumber } from '../numbers.ts'
import type { Summary } from '../overview.ts'
import { periods, type PeriodName } from '../period.ts'
import type { TopEvent } from '../read-counts.ts'
import type { FeedbackSummary } from '../records.ts'
import type { ListSearch } from '../search.ts'
import type { Header } from '../worker-state.ts'
import { applicationPath, appTag, byName, exactPath } from './links.ts'
import { listLink, listPath, msOf, timeTag } from './links.ts'
import { ago, badge, bars, choice, compared, countedNote, meta, segments, tile } from './parts.ts'
import { pictures, type SignPicture } from './pictures.ts'

const titles = { events: 'Events', devices: 'Active devices', feedback: 'Feedback' } as const

export function countTile(
  { data, period, application }: { data: Summary; period: PeriodName; application?: string },
  name: keyof typeof titles,
  more?: HtmlValue,
): Html {
  const [now, before] = [data.now?.[name], data.before?.[name]]
  const isCounted =
    now?.total || name === 'feedback' || data.isExact || data.countedAtMs !== undefined
  const last = `last ${periods[period].name}`
  const link = name === 'feedback' ? listLink('feedback', { application, period }, last) : last
  return tile({
    title: titles[name],
    value: isCounted ? (now ? wholeNumber(now.total) : '–') : '…',
    note: html`${isCounted ? html`${compared(now?.complete, before?.total)} ${link}` : countedNote(data)}${more}`,
    chart: isCounted && spark(now?.series ?? [], { series: name === 'feedback' ? name : 'events' }),
  })
}

/** The most frequent events within `search`, each with its share of all of them. */
export const eventBars = (
  rows: readonly TopEvent[],
  search: ListSearch,
  series: Series = 'events',
): Html | undefined =>
  bars(rows, ({ name }) => listPath('logs', { ...search, ...byName('event', name) }), {
    series,
    empty: 'others',
    noteOf: ({ count, total }) => percent(count / total),
  })

interface Latest {
  header: Header
  data: Summary
  sign: SignPicture
  application?: string
}

export const latestFeedback = (options: Latest): Html =>
  html`<section class="mini">
    <div class="title">
      <h2>Latest feedback</h2>
      ${listLink('feedback', { application: options.application }, 'all feedback')}
    </div>
    <ul class="grid g3">
      ${options.data.feedback.map((row) => feedbackItem(row, options))}
    </ul>
  </section>`

function feedbackItem(row: FeedbackSummary, { header, sign }: Latest): Html {
  const { time, bundle_identifier: application, version, email, text_start } = row
  const isCut = row.text_length > Array.from(text_start).length
  const path = exactPath('feedback', row, header.app)
  const device = [row.model, row.os].filter(Boolean).join(' · ')
  return html`<li class="card item">
    <h2>
      <a href="${path}">${timeTag(time, ago(msOf(time), header.nowMs))}</a
      >${email === null ? 'no e-mail' : clientText(email, 300)}
    </h2>
    <p class="text">
      ${clientText(text_start)}${isCut && html` <a href="${path}">… all ${row.text_length} characters</a>`}
    </p>
    ${meta([
      header.app === undefined && appTag(application),
      version && badge(listLink('feedback', { application, version }, clientText(version, 300))),
      device && clientText(device, 210),
      row.country && clientText(row.country),
    ])}
    ${pictures(row.attachments.slice(0, 1), sign)}
  </li> `
}

export function applicationTabs(application: string, current: 'Overview' | 'Catalogue'): Html {
  const links = [
    ['Overview', ''],
    ['Catalogue', '?tab=catalogue'],
  ].map(([name = '', query]) =>
    choice(applicationPath(application, query), name, name === current, 'page'),
  )
  return segments('Views of the application', links)
}
