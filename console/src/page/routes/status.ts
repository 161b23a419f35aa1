import { hourMs, kinds, type RecordKind } from '@intake/contract'
import type { ReportingProcesses, ReportingService } from '@intake/redis'
import { plural, quantity } from '@intake/runtime'
import { spark } from '../charts.ts'
import { clientText, html, type Html } from '../html.ts'
import { sumOf, shortDuration, wholeNumber } from '../numbers.ts'
import { stepsOf } from '../period.ts'
import { isRefusal, outcomesMax, readArrivals, readKeyOutcomes } from '../read-outcomes.ts'
import type { RecordReader } from '../records.ts'
import type { KeyOutcome } from '../read-outcomes.ts'
import { table } from '../table.ts'
import { document } from '../views/document.ts'
import { helpLink, withApp } from '../views/links.ts'
import { arrivalChart, keyName, meaningOf, senderName } from '../views/outcomes.ts'
import { alert, badge, card, list, mute, problemAlert, tile } from '../views/parts.ts'
import { withoutThumbnails } from '../views/pictures.ts'
import { awayTimeoutMs, ifPermitted, isAway, unlessClickHouseFails } from '../without-clickhouse.ts'
import type { Backlog, Header, WorkerState } from '../worker-state.ts'
import { clockTime } from '../zone.ts'
import type { ViewContext } from './context.ts'

/** `GET /status`, for a browser; other clients get JSON from the admin server. */
export function statusRoutes({ reader, state, cachedBriefly, view }: ViewContext) {
  view(
    '/status',
    async ({ header, reply }) => {
      reply.header('vary', 'accept')
      const reading = cachedBriefly('status', () => read({ reader, state }, header.nowMs))
      const [data, processes] = await Promise.all([
        unlessClickHouseFails(reading, isAway(header) ? awayTimeoutMs : undefined),
        cachedBriefly('processes', () => state.processes()),
      ])
      const [worst] = header.problems
      return document({
        header,
        view: 'status',
        title: 'Status',
        alert: html`${data === undefined && noData}${worst && problemAlert(worst)}`,
        body: html`${way(header, data, processes)}
          <div class="grid split">
            ${card(
              html`Last hour <small class="hide">per minute, by arrival at the gateways</small>`,
              data === undefined
                ? mute('Not known.')
                : arrivalChart(data.minutes, data.minuteSteps),
            )}
            ${problems(header)}
          </div>
          ${data && keyTable(data)} ${queueTable(header)} ${data && changeTable(data)}`,
      })
    },
    // It shows the reason of an outage, while other views may wait for ClickHouse.
    { constraints: { wants: 'html' }, isUrgent: true },
  )
}

async function read({ reader, state }: Pick<ViewContext, 'reader' | 'state'>, nowMs: number) {
  const minuteSteps = stepsOf('1h', nowMs)
  const daySteps = stepsOf('24h', nowMs)
  const [minutes, keys, names, changes] = await Promise.all([
    readArrivals(reader, minuteSteps),
    readKeyOutcomes(reader, daySteps, { onlyRefused: false }),
    state.keyNames(),
    readChanges(reader),
  ])
  return { minutes, minuteSteps, keys, daySteps, names, changes }
}

const readChanges = (reader: RecordReader) =>
  ifPermitted(
    reader.query<{ ms: number; who: string; action: string; subject: string }>(
      `SELECT toUnixTimestamp64Milli(at) AS ms, who, action, subject FROM intake.journal FINAL
       ORDER BY at DESC, id DESC LIMIT 10`,
    ),
  )

type StatusData = Awaited<ReturnType<typeof read>>
/** Undefined if Redis does not respond. */
type AllProcesses = Awaited<ReturnType<WorkerState['processes']>>

const absent = '–'

function pausedKinds({ problems: present }: Header): RecordKind[] {
  const detail = present.find(({ code }) => code === 'queue_paused')?.detail
  return kinds.filter((kind) => detail?.includes(kind))
}

const noData = alert(
  'danger',
  html`<b>Accepting, not storing: ClickHouse does not respond.</b> Records are accepted and kept in
    Redis. Counts are missing below.`,
)

function way(header: Header, data: StatusData | undefined, processes: AllProcesses): Html {
  const { logs, feedback } = header.freshness
  const { backlog, isLate } = logs
  const isPaused = pausedKinds(header).includes('logs')
  const isSlow = isLate || isPaused || (backlog?.oldestAgeSeconds ?? 0) > 30
  const lastMinute = data?.minutes.at(-2)?.events
  const upTo = (ms: number | undefined) => (ms === undefined ? 'not known' : clockTime(ms))
  const perSecond = wholeNumber(Number(((lastMinute ?? 0) / 60).toFixed(1)))
  return html`<div class="grid g4">
    ${tile({
      title: 'Gateways',
      value: lastMinute === undefined ? absent : `${perSecond}/s`,
      note: html`accepted, last full minute<br />${reports('gateway', processes)}`,
      isWarning: isMissing(processes?.gateway),
    })}
    ${tile({
      title: 'Queue',
      value: backlog ? `${wholeNumber(backlog.rows)} ${plural(backlog.rows, 'row')}` : absent,
      note: `${isPaused ? 'paused, ' : ''}${drain(backlog)}`,
      isWarning: isSlow,
    })}
    ${tile({
      title: 'Workers',
      value: processes ? `${processes.worker.reporting} up` : absent,
      note: isMissing(processes?.worker) && reports('worker', processes),
      isWarning: isSlow || isMissing(processes?.worker),
    })}
    ${tile({
      title: 'Visible up to',
      value: upTo(logs.visibleUntilMs),
      note: `feedback: ${upTo(feedback.visibleUntilMs)}`,
      isWarning: isLate,
    })}
  </div>`
}

function drain(backlog: Backlog | undefined): string {
  if (backlog === undefined) return 'Redis does not respond'
  if (backlog.rows === 0) return 'empty'
  return Number.isFinite(backlog.secondsToDrain)
    ? `empty in about ${shortDuration(backlog.secondsToDrain)}`
    : 'not getting shorter'
}

const isMissing = (processes: ReportingProcesses | undefined) =>
  processes !== undefined && (processes.reporting === 0 || processes.stopped > 0)

function reports(service: ReportingService, processes: AllProcesses): string | undefined {
  if (processes === undefined) return undefined
  const { reporting, stopped, stoppedAtMs } = processes[service]
  const last = stoppedAtMs === undefined ? '' : `, ${stopped} stopped at ${clockTime(stoppedAtMs)}`
  return `${quantity(reporting, service)} reporting${last}`
}

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
    html`${list(items) ?? mute('None.')} ${withoutThumbnails(header)}
    ${mute(
      html`Those of this console and of all workers. Gateways have their own: see
        <code>intake_problem</code> or <code>./intake status</code>.`,
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
  const hours = Math.round((daySteps.to - daySteps.from) / hourMs)
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

/** What operators changed last, with `intake` (docs/cli.md#intake-journal). */
function changeTable({ changes, names }: StatusData): Html | undefined {
  return (
    changes &&
    card(
      html`Changes <small>the last ten; <code>./intake journal</code> has all</small>`,
      table('Changes', changes, [
        ['When', ({ ms }) => clockTime(ms)],
        ['What', ({ action }) => html`<code>${action}</code>`],
        ['Of', ({ subject }) => keyName(subject, names)],
        ['Who', ({ who }) => clientText(who, 100)],
      ]),
    )
  )
}

function queueTable(header: Header): Html {
  const { freshness, deadLetters } = header
  const paused = pausedKinds(header)
  const rows = kinds.map((kind) => ({ kind, ...freshness[kind].backlog }))
  const seconds = (value = 0) =>
    value === 0 || !Number.isFinite(value) ? absent : shortDuration(value)
  const isUnknown = rows.some((row) => row.rows === undefined)
  return card(
    html`Queues ${isUnknown && html`<small>Redis does not respond</small>`}
      <a href="${withApp('/dead-letters', header.app)}"
        >${wholeNumber(deadLetters)} ${plural(deadLetters, 'dead letter')}</a
      >`,
    table('Queues', rows, [
      ['Queue', ({ kind }) => (kind === 'logs' ? 'Events' : 'Feedback')],
      ['State', ({ kind }) => (paused.includes(kind) ? html`<b>paused</b>` : 'not paused')],
      ['Rows', (row) => row.rows ?? absent, 'num'],
      ['Oldest row', (row) => seconds(row.oldestAgeSeconds), 'num'],
      ['Drained in', (row) => seconds(row.secondsToDrain), 'num'],
    ]),
  )
}
