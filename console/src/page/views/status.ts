import { plural } from '@intake/runtime'
import { kinds, type RecordKind } from '@intake/contract'
import type { ReportingProcesses } from '@intake/redis'
import { spark } from '../charts.ts'
import { clientText } from '../client-text.ts'
import { html, type Html, type HtmlValue } from '../html.ts'
import { shortDuration, wholeNumber } from '../numbers.ts'
import type { Steps } from '../period.ts'
import { isRefusal, outcomesMax, type Arrivals, type KeyOutcome } from '../read-outcomes.ts'
import type { Backlog, Header, WorkerState } from '../worker-state.ts'
import type { RaisedAlert } from '../read-alerts.ts'
import { alertCard } from './alerts.ts'
import { table } from '../table.ts'
import { clockTime } from '../zone.ts'
import { document } from './document.ts'
import { helpLink, withApp } from './links.ts'
import { arrivalChart, meaningOf, senderName, sumOf, type KeyNames } from './outcomes.ts'
import { alert, badge, card, list, mute, problemAlert, tile } from './parts.ts'
import { withoutThumbnails } from './pictures.ts'

/** The data of the status view that comes from ClickHouse. */
export interface StatusData {
  /** The arrivals in each minute of the last hour. */
  minutes: Arrivals[]
  minuteSteps: Steps
  /** The outcomes in each hour of the last day, by key and code. */
  keys: KeyOutcome[]
  daySteps: Steps
  names: KeyNames
  /** Alerts on events that fire or are unknown. */
  alerts: RaisedAlert[]
}

const absent = '–'

/** The kinds of records whose queue an operator has paused. */
function pausedKinds({ problems: present }: Header): RecordKind[] {
  const detail = present.find(({ code }) => code === 'queue_paused')?.detail
  return kinds.filter((kind) => detail?.includes(kind))
}

/**
 * @param options.data undefined if ClickHouse does not respond
 * @param options.processes undefined if Redis does not respond
 */
export function statusView(options: {
  header: Header
  data: StatusData | undefined
  processes: Awaited<ReturnType<WorkerState['processes']>>
}): Html {
  const { header, data, processes } = options
  const [worst] = header.problems
  const noData = alert(
    'danger',
    html`<b>Accepting, not storing: ClickHouse does not respond.</b> Records are accepted and kept
      in Redis. Counts are missing below.`,
  )
  return document({
    header,
    view: 'status',
    title: 'Status',
    alert: html`${data === undefined ? noData : undefined}${worst && problemAlert(worst)}`,
    body: html`${way(header, data, processes)} ${data && alertCard(data.alerts, header.nowMs)}
      <div class="grid split">
        ${card(
          html`Last hour <small class="hide">per minute, by arrival at the gateways</small>`,
          data === undefined ? mute('Not known.') : arrivalChart(data.minutes, data.minuteSteps),
        )}
        ${problems(header)}
      </div>
      <div class="grid">
        ${data === undefined ? undefined : keyTable(data)} ${queueTable(header)}
      </div>`,
  })
}

/** Shows the steps that a record passes through, and the present state of each step. */
function way(
  header: Header,
  data: StatusData | undefined,
  processes: Awaited<ReturnType<WorkerState['processes']>>,
): Html {
  const { logs, feedback } = header.freshness
  const { backlog, isLate } = logs
  const isPaused = pausedKinds(header).includes('logs')
  const isSlow = isLate || isPaused || (backlog?.oldestAgeSeconds ?? 0) > 30
  const lastMinute = data?.minutes.at(-2)?.events
  const steps: [string, HtmlValue, HtmlValue, isWarning: boolean][] = [
    [
      'Gateways',
      lastMinute === undefined ? absent : `${rate(lastMinute / 60)}/s`,
      html`accepted, last full minute${reports('gateway', processes?.gateway)}`,
      processes !== undefined && !hasAll(processes.gateway),
    ],
    [
      'Queue',
      backlog === undefined
        ? 'not known'
        : html`${wholeNumber(backlog.rows)} ${plural(backlog.rows, 'row')}`,
      backlog === undefined
        ? 'Redis does not respond'
        : html`${isPaused ? 'paused, ' : undefined}in
          ${wholeNumber(backlog.waiting + backlog.active + backlog.delayed)}
          frames${(backlog.oldestAgeSeconds ?? 0) > 0 ? `, oldest ${shortDuration(backlog.oldestAgeSeconds ?? 0)}` : ''}`,
      isSlow,
    ],
    [
      'Workers',
      processes === undefined
        ? 'not known'
        : `${processes.worker.reporting} of ${processes.worker.reporting + processes.worker.stopped} up`,
      html`${drain(backlog)}${processes && hasAll(processes.worker) ? undefined : reports('worker', processes?.worker)}`,
      isSlow || (processes !== undefined && !hasAll(processes.worker)),
    ],
    [
      'Visible',
      logs.visibleUntilMs === undefined
        ? 'not known'
        : html`up to ${clockTime(logs.visibleUntilMs)}`,
      feedback.visibleUntilMs === undefined
        ? ''
        : html`feedback up to ${clockTime(feedback.visibleUntilMs)}`,
      isLate,
    ],
  ]
  return html`<div class="grid g4">
    ${steps.map(([title, value, note, isWarning]) => tile({ title, value, note, isWarning }))}
  </div>`
}

/** How long the queue needs to become empty. */
function drain(backlog: Backlog | undefined): string {
  if (backlog === undefined) return 'Redis does not respond'
  if (backlog.rows === 0) return 'the queue is empty'
  return Number.isFinite(backlog.secondsToDrain)
    ? `the queue is empty in about ${shortDuration(backlog.secondsToDrain)}`
    : 'the queue is not getting shorter'
}

const hasAll = ({ reporting, stopped }: ReportingProcesses) => reporting > 0 && stopped === 0

/** Shows how many processes report and how many have stopped; undefined if that is not known. */
function reports(service: string, processes: ReportingProcesses | undefined): Html | undefined {
  if (processes === undefined) return undefined
  const { reporting, stopped, stoppedAtMs } = processes
  const last = stoppedAtMs === undefined ? '' : `, ${stopped} stopped at ${clockTime(stoppedAtMs)}`
  const count = reporting === 0 ? 'no' : wholeNumber(reporting)
  return html`<br />${count} ${reporting > 1 ? `${service}s report` : `${service} reports`}${last}`
}

const rate = (perSecond: number) =>
  perSecond < 10 ? String(Number(perSecond.toFixed(1))) : wholeNumber(Math.round(perSecond))

function problems(header: Header): Html {
  const items = header.problems.map(
    ({ code, title, state, since, detail, help }) =>
      html`${badge(state, state === 'down' ? 'danger' : 'warning')} <code>${code}</code> ${title}
        <small
          >since ${clockTime(Date.parse(since))} · ${clientText(detail, 600)} ·
          ${helpLink(help)}</small
        >`,
  )
  return card(
    'Problems',
    html`${items.length === 0 ? mute('None.') : list(items)} ${withoutThumbnails(header)}
    ${mute(
      html`Those of this console and of all workers. Gateways have their own: see
        <code>intake_problem</code> or <code>intake status</code>.`,
    )}`,
  )
}

function keyTable({ keys, daySteps, names }: StatusData): Html {
  // What has no key has a row for each code, because the code says whose it is.
  const ofKeys = keys.filter(({ api_key_id, code }) => api_key_id !== '' || isRefusal(code))
  const groupOf = ({ api_key_id, code }: KeyOutcome) => api_key_id || `no key: ${code}`
  const rows = [...new Set(ofKeys.map(groupOf))].map((group) => {
    const own = ofKeys.filter((outcome) => groupOf(outcome) === group)
    const accepted = own.find(({ code }) => code === 'accepted')
    return { own, accepted, refused: own.filter(({ code }) => isRefusal(code)) }
  })
  const hours = Math.round((daySteps.to - daySteps.from) / 3_600_000)
  return card(
    html`API keys <small>last ${hours} hours</small>`,
    html`${table('API keys', rows, [
      ['Key', ({ own: [first] }) => first && senderName(first, names)],
      ['', ({ accepted }) => accepted && spark(accepted.series, { height: 20 }), 'hide'],
      ['Accepted', ({ accepted }) => accepted?.records ?? 0, 'num'],
      ['Refused', ({ refused }) => sumOf(refused, ({ records }) => records), 'num'],
      ['Mostly', ({ refused: [first] }) => first && meaningOf(first.code)],
    ])}${mute(
      keys.length >= outcomesMax && `Of the ${outcomesMax} most frequent outcomes of a key.`,
    )}`,
    'keys',
  )
}

function queueTable(header: Header): Html {
  const { freshness, deadLetters } = header
  const paused = pausedKinds(header)
  const seconds = (value = 0) =>
    value === 0 || !Number.isFinite(value) ? absent : shortDuration(value)
  const rows: [string, (kind: RecordKind, backlog: Backlog | undefined) => HtmlValue][] = [
    ['State', (kind) => (paused.includes(kind) ? html`<b>paused</b>` : 'not paused')],
    ['Frames waiting', (_, backlog) => backlog?.waiting ?? absent],
    ['in progress', (_, backlog) => backlog?.active ?? absent],
    ['postponed', (_, backlog) => backlog?.delayed ?? absent],
    ['Rows', (_, backlog) => backlog?.rows ?? absent],
    ['Oldest row', (_, backlog) => seconds(backlog?.oldestAgeSeconds)],
    ['Drained in', (_, backlog) => seconds(backlog?.secondsToDrain)],
  ]
  const cell =
    (kind: RecordKind) =>
    ([, valueOf]: (typeof rows)[number]) =>
      valueOf(kind, freshness[kind].backlog)
  const isUnknown = kinds.some((kind) => freshness[kind].backlog === undefined)
  return card(
    html`Queues ${isUnknown ? html`<small>Redis does not respond</small>` : undefined}
      <a href="${withApp('/dead-letters', header.app)}"
        >${wholeNumber(deadLetters)} ${plural(deadLetters, 'dead letter')}</a
      >`,
    table(
      'Queues',
      rows,
      [
        ['', ([name]) => name],
        ['Events', cell('logs'), 'num'],
        ['Feedback', cell('feedback'), 'num'],
      ],
      { isStacked: false },
    ),
  )
}
