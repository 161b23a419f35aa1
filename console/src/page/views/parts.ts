import { barBehind, type Series } from '../charts.ts'
import { clientText, html, type Html, type HtmlValue, listMarksMax } from '../html.ts'
import { shortDuration, wholeNumber } from '../numbers.ts'
import { periods, type PeriodName } from '../period.ts'
import type { NameCount } from '../read-counts.ts'
import { isCutName, nameMax, pageRows, type NumberedPage } from '../records.ts'
import type { Header, PageProblem } from '../worker-state.ts'
import { clockTime } from '../zone.ts'
import { helpLink, shortLink, withApp } from './links.ts'

const icons = { warn: 'M8 1.6 15 14H1zM8 6v4M8 11.6v.9', ok: 'M2.5 8.5l3.5 3.5 7.5-8' } as const

export const icon = (name: keyof typeof icons): Html =>
  html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d="${icons[name]}" />
  </svg>`

export function tile(options: {
  title: string
  value: HtmlValue
  note: HtmlValue
  chart?: HtmlValue
  isWarning?: boolean
}): Html {
  const { title, value, note, chart, isWarning = false } = options
  return html`<section class="card tile${isWarning ? ' warn' : ''}">
    <h2>${title}</h2>
    <b>${value}</b>
    <p>${note}</p>
    ${chart}
  </section>`
}

export const card = (heading: HtmlValue, body: HtmlValue, id?: string): Html =>
  html`<section class="card" ${id && html` id="${id}"`}>
    <h2>${heading}</h2>
    ${body}
  </section>`

export const mute = (text: HtmlValue): Html | undefined =>
  text ? html`<p class="mute">${text}</p>` : undefined

/** What is absent is left out. */
export const meta = (parts: readonly HtmlValue[]): Html =>
  html`<p class="meta">${parts.map((part) => part && html`<span>${part}</span>`)}</p>`

export function list(items: readonly HtmlValue[], className = 'list'): Html | undefined {
  if (items.length === 0) return undefined
  return html`<ul class="${className}">
    ${listItems(items)}
  </ul>`
}

const listItems = (items: readonly HtmlValue[]) =>
  items.map((item) => item && html`<li>${item}</li>`)

export const details = (summary: HtmlValue, content: HtmlValue, className?: string): Html =>
  html`<details${className && html` class="${className}"`}><summary>${summary}</summary>${content}</details>`

/** A link of several; the one to what is shown is marked. */
export const choice = (href: string, content: HtmlValue, isCurrent: boolean, kind = 'true'): Html =>
  html`<a href="${href}" ${isCurrent && html`aria-current="${kind}"`}>${content}</a>`

export const segments = (label: string, links: readonly Html[]): Html =>
  html`<nav class="seg" aria-label="${label}">${links}</nav>`

export function facts(pairs: readonly (readonly [name: HtmlValue, value: HtmlValue])[]): Html {
  const shown = pairs.filter(([, value]) => value !== undefined)
  return html`<dl>
    ${shown.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd> `,
    )}
  </dl>`
}

export function bars<Row extends NameCount>(
  rows: readonly Row[],
  hrefOf: (row: Row) => string,
  options: { series?: Series; empty?: string; noteOf?: (row: Row) => string | undefined } = {},
): Html | undefined {
  if (rows.length === 0) return mute('None.')
  const { series = 'events', empty = 'none', noteOf } = options
  const most = Math.max(1, ...rows.map(({ count }) => count))
  const items = rows.map(
    (row) =>
      html`${barBehind(row.count / most, series)}${nameLink(row.name, hrefOf(row), empty)}<span
          >${wholeNumber(row.count)}</span
        ><span class="mute">${noteOf?.(row)}</span>`,
  )
  return html`<ol class="bars">
    ${listItems(items)}
  </ol>`
}

export function nameLink(name: string, href: string, empty = 'none'): Html {
  if (name === '') return shortLink(href, html`<i class="mute">${empty}</i>`)
  const shown = clientText(name, nameMax, listMarksMax)
  return isCutName(name) ? html`<span>${shown}</span>` : shortLink(href, shown)
}

export function pager(
  { rows, number, hasMore }: NumberedPage<unknown>,
  hrefOf: (number: number) => string,
): Html | undefined {
  if (number === 1 && !hasMore) return undefined
  const first = (number - 1) * pageRows + 1
  const range = `Rows ${wholeNumber(first)} to ${wholeNumber(first + rows.length - 1)}.`
  return html`<p class="pages">
    ${rows.length > 0 ? range : 'There are no more.'}
    ${number > 1 && html`<a href="${hrefOf(number - 1)}">Back</a>`}
    ${hasMore && html`<a href="${hrefOf(number + 1)}">More</a>`}
  </p>`
}

export function periodLinks(
  current: PeriodName | undefined,
  path: string,
  { query = '', names = Object.keys(periods) as PeriodName[] } = {},
): Html {
  const rest = new URLSearchParams(query)
  for (const name of ['period', 'from', 'to', 'after']) rest.delete(name)
  const links = names.map((name) => {
    const search = new URLSearchParams([...rest, ['period', name]])
    return choice(`${path}?${search.toString()}`, periods[name].name, name === current)
  })
  return segments('Period', links)
}

/** Prints a change such as "+12 %"; undefined if there was nothing before, or one is not known. */
export function compared(value: number | undefined, before = 0): Html | undefined {
  if (value === undefined || before === 0) return undefined
  const change = Math.round((100 * (value - before)) / before)
  const printed =
    change > 999
      ? '> 10 times'
      : `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change)} %`
  return html`<b title="without the last step, ${wholeNumber(before)} before">${printed}</b>`
}

/** Undefined if the records themselves were counted. */
export function countedNote(options: { countedAtMs: number | undefined; isExact?: boolean }) {
  const { countedAtMs, isExact = false } = options
  if (isExact) return undefined
  return countedAtMs === undefined
    ? 'counted within a minute'
    : `counted at ${clockTime(countedAtMs)}`
}

export const ago = (ms: number, nowMs: number): string =>
  `${shortDuration(Math.max(0, nowMs - ms) / 1_000)} ago`

export const badge = (content: HtmlValue, variant = 'secondary'): Html =>
  html`<span class="badge" data-variant="${variant}">${content}</span>`

/** What to know before reading numbers: what is down, what is behind, what could not be counted. */
export const warnings = (header: Header, isPartial = false): Html => {
  const down = header.problems.filter(({ state }) => state === 'down')
  return html`${down.map(problemAlert)}${behindAlert(header)}${isPartial && partialAlert}`
}

function behindAlert({ app, freshness, nowMs }: Header): Html | undefined {
  const { isLate, visibleUntilMs, backlog } = freshness.logs
  if (!isLate || visibleUntilMs === undefined) return undefined
  const waiting =
    backlog &&
    backlog.rows > 0 &&
    html`${wholeNumber(backlog.rows)} accepted events wait in the queue; nothing is lost.
    ${Number.isFinite(backlog.secondsToDrain) ? `At the present speed they are visible in about ${shortDuration(backlog.secondsToDrain)}.` : 'The queue is not getting shorter.'}`
  return alert(
    'warning',
    html`<b>Events are ${shortDuration((nowMs - visibleUntilMs) / 1_000)} behind.</b> ${waiting}
      Counts that are read from stored events lack them.
      <a href="${withApp('/status', app)}">Status</a>`,
  )
}

export const problemAlert = ({ code, title, detail, help, state }: PageProblem): Html =>
  alert(
    state === 'down' ? 'danger' : 'warning',
    html`<b>${code}: ${title}.</b> ${clientText(detail, 600)}. What to do: ${helpLink(help)}`,
  )

export const alert = (variant: 'warning' | 'danger', content: Html): Html =>
  html`<p class="alert" role="status" data-variant="${variant}">
    ${icon('warn')}<span>${content}</span>
  </p>`

const partialAlert = alert(
  'warning',
  html`<b>Some parts could not be counted.</b> ClickHouse took too long, or needed too much memory.
    What is missing here is empty or zero.`,
)
