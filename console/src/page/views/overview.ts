import { plural } from '@intake/runtime'
import { spark } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { percent, shortDuration, wholeNumber } from '../numbers.ts'
import { isNew, type OverviewData } from '../overview.ts'
import { periods, type PeriodName } from '../period.ts'
import { applicationsMax } from '../read-counts.ts'
import type { Header, KeyBudget } from '../worker-state.ts'
import { checklist } from './checklist.ts'
import { clockTime, document } from './document.ts'
import { latestFeedback } from './feedback-items.ts'
import { findingList } from './findings.ts'
import { applicationPath, applicationTag, listPath, byName } from './links.ts'
import { arrivalChart, refusalList, sumOf } from './outcomes.ts'
import {
  ago,
  badge,
  bars,
  behindAlert,
  card,
  compared,
  partialAlert,
  periodLinks,
  problemAlert,
  table,
  tile,
} from './parts.ts'
import type { SignPicture } from './pictures.ts'

const hourMs = 3_600_000

interface OverviewOptions {
  header: Header
  data: OverviewData
  period: PeriodName
  sign: SignPicture
  /** The URLs of the gateways. */
  urls: readonly string[]
  budgets: readonly KeyBudget[]
}

export function overviewView(options: OverviewOptions): Html {
  const { header, data, period, sign, urls, budgets } = options
  const { arrivals, steps, refusals, names, topEvents, findings, countedAtMs, isExact } = data
  const { firstAtMs } = data
  const first = checklist({
    nowMs: header.nowMs,
    firstAtMs,
    isNew: isNew(data),
    urls,
    keys: names.size,
  })
  const down = header.problems.filter(({ state }) => state === 'down')
  const behind = isExact ? undefined : countedAtMs
  return document({
    header,
    view: 'overview',
    title: 'Overview',
    alert: html`${down.map(problemAlert)}${behindAlert(header)}${data.isPartial ? partialAlert : undefined}`,
    tools: isNew(data) ? undefined : periodLinks(period, '/'),
    body: isNew(data)
      ? first
      : html`${findingList({ header, findings, budgets, countedAtMs: behind })}${first}
          ${tiles(options)} ${latestFeedback({ header, rows: data.feedback, sign })}
          ${card(
            html`Arrivals <small class="hide">when gateways accepted or refused it</small>`,
            arrivalChart(arrivals, steps),
            'card wide',
          )}
          <div class="grid g2">
            ${card(
              html`Top events <a href="/events">all events</a>`,
              bars(
                topEvents.map(({ name, count, total }) => ({
                  name: name || 'others',
                  count,
                  note: percent(count / Math.max(1, total)),
                  href: listPath('logs', { ...byName('event', name), period }),
                })),
              ),
            )}
            <section class="card" id="refused">
              <h2>Refused, and why <a href="/status#keys">keys</a></h2>
              ${refusalList(refusals, names)}
            </section>
          </div>
          ${card(html`Applications ${countedNote(options)}`, applicationTable(options), 'card wide')}`,
  })
}

/** Says how old stored counts are; undefined if the records themselves were counted. */
function countedNote({ data }: OverviewOptions): Html | undefined {
  if (data.isExact) return undefined
  return data.countedAtMs === undefined
    ? html`<small>counted within a minute</small>`
    : html`<small>counted at ${clockTime(data.countedAtMs)}</small>`
}

function tiles({ data, period }: OverviewOptions): Html {
  const { arrivals, refusals, applications, now, before, refusedBefore } = data
  const events = sumOf(arrivals, (point) => point.events)
  const leftOut = sumOf(arrivals, (point) => point.leftOut)
  const refused = sumOf(arrivals, (point) => point.refused)
  const isMuch = refused > 0.01 * (events + refused) && refused > 0
  const reason = refusals[0]?.code
  const series = arrivals.map((_, step) => sumOf(applications, (one) => one.series[step] ?? 0))
  const isCounted = data.isExact || data.countedAtMs !== undefined
  const waiting = 'counted within a minute'
  const versus = (value: number, earlier: number) =>
    html`${compared(value, earlier)} last ${periods[period].name}`
  return html`<div class="grid g4">
    ${tile({
      title: 'Events',
      value: isCounted ? wholeNumber(now.events) : '…',
      note: isCounted
        ? html`${versus(now.events, before.events)}${leftOut === 0 ? undefined : html`; ${wholeNumber(leftOut)} ${plural(leftOut, 'record')} left out`}`
        : waiting,
      chart: spark(series),
    })}
    ${tile({
      title: 'Active devices',
      value: isCounted ? wholeNumber(now.devices) : '…',
      note: isCounted ? versus(now.devices, before.devices) : waiting,
    })}
    ${tile({
      title: 'Feedback',
      value: wholeNumber(now.feedback),
      note: versus(now.feedback, before.feedback),
      chart: spark(
        arrivals.map(({ feedback }) => feedback),
        { series: 'feedback' },
      ),
    })}
    ${tile({
      title: 'Refused',
      value: wholeNumber(refused),
      note: html`${versus(refused, refusedBefore)}${reason && html`; mostly <a href="#refused"><code>${clientText(reason, 60)}</code></a>`}`,
      chart: spark(
        arrivals.map((point) => point.refused),
        { series: 'refused' },
      ),
      state: isMuch ? 'warn' : undefined,
    })}
  </div>`
}

function applicationTable({ header, data, period }: OverviewOptions): Html {
  const { applications, feedbackByApplication: feedback, isExact } = data
  if (applications.length === 0)
    return html`<p class="mute">No events yet${isExact ? '' : ', or not counted yet'}.</p>`
  const rows = applications.map((application) => {
    const { bundle_identifier, events, devices, newest_version, lastMs, series } = application
    const silentMs = header.nowMs - lastMs - (isExact ? 0 : hourMs)
    const last = silentMs < hourMs && !isExact ? 'this hour' : ago(lastMs, header.nowMs)
    return html`<tr>
      <td>
        <a href="${applicationPath(bundle_identifier, `?period=${period}`)}"
          >${applicationTag(bundle_identifier)}</a
        >
      </td>
      <td class="hide">${spark(series, { height: 22 })}</td>
      <td class="num" data-label="Events">${wholeNumber(events)}</td>
      <td class="num" data-label="Feedback">
        ${wholeNumber(feedback.get(bundle_identifier) ?? 0)}
      </td>
      <td class="num" data-label="Devices">${wholeNumber(devices)}</td>
      <td data-label="Newest version">${clientText(newest_version, 60)}</td>
      <td class="num" data-label="Last event">
        ${silentMs > 24 * hourMs ? badge(`silent for ${shortDuration(silentMs / 1_000)}`, 'warning') : last}
      </td>
    </tr>`
  })
  const cut =
    rows.length < applicationsMax
      ? undefined
      : html`<p class="mute">The ${applicationsMax} applications with most events.</p>`
  return html`${table(
    'Applications',
    html`<th>Application</th>
      <th class="hide">Last ${periods[period].name}</th>
      <th class="num">Events</th>
      <th class="num">Feedback</th>
      <th class="num">Devices</th>
      <th>Newest version</th>
      <th class="num">Last event</th>`,
    rows,
  )}
  ${cut}`
}
