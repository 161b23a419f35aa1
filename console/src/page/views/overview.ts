import { plural } from '@intake/runtime'
import { spark } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html } from '../html.ts'
import { percent, shortDuration, shortNumber, wholeNumber } from '../numbers.ts'
import type { OverviewData } from '../overview.ts'
import { periods, type PeriodName } from '../period.ts'
import { applicationsMax, type ApplicationCounts, type NameCount } from '../read-counts.ts'
import type { Header } from '../worker-state.ts'
import { clockTime, document } from './document.ts'
import { feedbackItems } from './feedback-items.ts'
import { applicationLink, listPath, byName } from './links.ts'
import { arrivalChart, refusalList, sumOf } from './outcomes.ts'
import {
  alert,
  badge,
  bars,
  behindAlert,
  card,
  periodLinks,
  problemAlert,
  table,
  tile,
} from './parts.ts'
import type { SignPicture } from './pictures.ts'

const hourMs = 3_600_000

export function overviewView(options: {
  header: Header
  data: OverviewData
  period: PeriodName
  sign: SignPicture
}): Html {
  const { header, data, period, sign } = options
  const { arrivals, steps, refusals, names, applications, topEvents, versions } = data
  const down = header.problems.filter(({ state }) => state === 'down')
  const counted =
    data.countedAtMs === undefined
      ? html`<small>not counted yet</small>`
      : html`<small>counted at ${clockTime(data.countedAtMs)}</small>`
  return document({
    header,
    view: 'overview',
    title: 'Overview',
    alert: html`${down.map(problemAlert)}${behindAlert(header)}${data.isPartial ? partialAlert : undefined}`,
    tools: periodLinks(period, '/'),
    body: html`${tiles(options)}
      ${card(
        html`Arrivals <small class="hide">choose a step to see its records</small>`,
        arrivalChart(arrivals, steps),
        'card wide',
      )}
      <div class="grid g3">
        ${card(html`Top events <a href="/events">all events</a>`, topList(topEvents, { field: 'event', total: topEvents[0]?.total ?? 0, period }))}
        ${card(html`Top versions <small>devices</small>`, topList(versions, { field: 'version', total: data.devices, period }))}
        <section class="card" id="refused">
          <h2>Refused, and why <a href="/status#keys">keys</a></h2>
          ${refusalList(refusals, { names, hasCharts: true })}
        </section>
      </div>
      ${card(
        html`Applications ${counted}`,
        applicationTable(applications, data.feedbackByApplication, { nowMs: header.nowMs, period }),
        'card wide',
      )}
      <section class="mini">
        <div class="title">
          <h2>Latest feedback</h2>
          <a href="/feedback">all feedback</a>
        </div>
        ${feedbackItems({ rows: data.feedback, sign, nowMs: header.nowMs, className: 'grid g3' })}
      </section>`,
  })
}

const partialAlert = alert(
  'warning',
  html`<b>Some counts of events could not be read.</b> ClickHouse took too long, or needed too much
    memory. What is missing here is empty or zero.`,
)

function tiles({
  header,
  data,
  period,
}: {
  header: Header
  data: OverviewData
  period: PeriodName
}): Html {
  const { arrivals, refusals } = data
  const last = `last ${periods[period].name}`
  const events = sumOf(arrivals, (point) => point.events)
  const leftOut = sumOf(arrivals, (point) => point.leftOut)
  const refused = sumOf(arrivals, (point) => point.refused)
  const isMuch = refused > 0.01 * (events + refused) && refused > 0
  const reason = refusals[0]?.code
  return html`<div class="grid g5">
    ${tile({
      title: 'Events accepted',
      value: shortNumber(events),
      note:
        leftOut === 0
          ? last
          : html`${last}; ${shortNumber(leftOut)} ${plural(leftOut, 'record')} left out`,
      chart: spark(arrivals.map((point) => point.events)),
    })}
    ${tile({
      title: 'Feedback',
      value: shortNumber(sumOf(arrivals, ({ feedback }) => feedback)),
      note: last,
      chart: spark(
        arrivals.map(({ feedback }) => feedback),
        { series: 'feedback' },
      ),
    })}
    ${tile({ title: 'Active devices', value: wholeNumber(data.devices), note: html`with an event, ${last}` })}
    ${tile({
      title: 'Refused',
      value: shortNumber(refused),
      note:
        reason === undefined
          ? last
          : html`mostly <a href="#refused"><code>${clientText(reason, 60)}</code></a>`,
      chart: spark(
        arrivals.map((point) => point.refused),
        { series: 'refused' },
      ),
      state: isMuch ? 'warn' : undefined,
    })}
    ${tile({
      title: 'Dead letters',
      value: wholeNumber(header.deadLetters),
      note:
        header.deadLetters === 0
          ? 'none waits'
          : html`<a href="/dead-letters">wait for an operator</a>`,
      state: header.deadLetters > 0 ? 'bad' : undefined,
    })}
  </div>`
}

/** @param options.total the number that counts as 100 % */
const topList = (
  counts: readonly NameCount[],
  { field, total, period }: { field: 'event' | 'version'; total: number; period: PeriodName },
): Html =>
  bars(
    counts.map(({ name, count }) => ({
      name,
      count,
      note: percent(count / Math.max(1, total)),
      href: listPath('logs', { ...byName(field, name), period }),
    })),
  )

function applicationTable(
  applications: readonly ApplicationCounts[],
  feedback: ReadonlyMap<string, number>,
  { nowMs, period }: { nowMs: number; period: PeriodName },
): Html {
  if (applications.length === 0) return html`<p class="mute">No events have been counted yet.</p>`
  const rows = applications.map((application) => {
    const { bundle_identifier, events, devices, newest_version, lastMs, series } = application
    const silentMs = nowMs - lastMs - hourMs
    return html`<tr>
      <td>${applicationLink(bundle_identifier)}</td>
      <td class="hide">${spark(series, { height: 22 })}</td>
      <td class="num">${wholeNumber(events)}</td>
      <td class="num hide">${wholeNumber(feedback.get(bundle_identifier) ?? 0)}</td>
      <td class="num hide">${wholeNumber(devices)}</td>
      <td class="hide">${clientText(newest_version, 60)}</td>
      <td class="num">
        ${silentMs > hourMs ? badge(`silent for ${shortDuration(silentMs / 1_000)}`, 'warning') : `hour of ${clockTime(lastMs).slice(-8, -3)}`}
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
      <th class="num hide">Feedback</th>
      <th class="num hide">Devices</th>
      <th class="hide">Newest version</th>
      <th class="num">Last event</th>`,
    rows,
  )}
  ${cut}`
}
