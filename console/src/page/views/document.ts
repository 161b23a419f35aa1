import type { RecordKind } from '@intake/contract'
import { version } from '@intake/runtime'
import { icon as iconFile, liveScript, stylesheet } from '../assets.ts'
import { patterns } from '../charts.ts'
import { html, type Html, type HtmlValue } from '../html.ts'
import { shortDuration } from '../numbers.ts'
import type { Header } from '../worker-state.ts'
import { icon } from './parts.ts'

const views = {
  overview: { path: '/', name: 'Overview' },
  live: { path: '/live', name: 'Live' },
  events: { path: '/events', name: 'Events' },
  feedback: { path: '/feedback', name: 'Feedback' },
  deadLetters: { path: '/dead-letters', name: 'Dead letters' },
  status: { path: '/status', name: 'Status' },
} as const
export type View = keyof typeof views

/** The seconds after which the live view loads again in a browser that runs no scripts. */
const refreshSeconds = 5

interface DocumentOptions {
  header: Header
  /** The view whose link is marked as current; absent if the document belongs to no view. */
  view?: View
  /** The title of the window. It never contains a text from a client. */
  title: string
  heading?: HtmlValue
  crumbs?: Html
  /** Shown beside the heading. */
  tools?: HtmlValue
  /** Shown above the heading. */
  alert?: Html | undefined
  body: HtmlValue
  /** Whether the document has the live view's script. */
  isLive?: boolean
}

/**
 * Creates the whole document of a view: the head, the links to all views, `body` and the footer.
 */
export function document(options: DocumentOptions): Html {
  const { header, title, heading = title, crumbs, tools, alert, body, isLive = false } = options
  const script = html`<script src="${liveScript.path}" defer></script>
    <noscript><meta http-equiv="refresh" content="${refreshSeconds}" /></noscript>`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Intake</title>
        <link rel="stylesheet" href="${stylesheet.path}" />
        <link rel="icon" href="${iconFile.path}" type="image/svg+xml" />
        ${isLive ? script : undefined}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${headerOf(options)}
        <main id="main">
          ${patterns}${alert}
          <div class="title">
            ${crumbs && html`<p class="crumbs">${crumbs}</p>`}
            <h1>${heading}</h1>
            ${tools}
          </div>
          ${body}
        </main>
        <footer class="bottom">
          Times are UTC · page of ${clockTime(header.nowMs)} · Intake ${version}
        </footer>
      </body>
    </html> `
}

function headerOf({ header, view }: DocumentOptions): Html {
  const links = Object.entries(views).map(([name, { path, name: text }]) => {
    const count = name === 'deadLetters' ? header.deadLetters : 0
    const badge =
      count > 0
        ? html` <span class="count">${count}<span class="vh"> waiting</span></span>`
        : undefined
    return html`<a href="${path}" ${name === view ? html` aria-current="page"` : undefined}
      >${text}${badge}</a
    >`
  })
  return html`<header class="top">
    <a class="brand" href="/"
      ><svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path d="M3 2.5h14v10.5H9l-6 5z" />
        <path class="cut" d="M6.5 6h7M6.5 9.5h4.5" /></svg
      >Intake</a
    >
    <nav aria-label="Views">${links}</nav>
    <form class="find" action="/find" role="search">
      <label class="vh" for="id">Find a record by its id or request id</label>
      <input
        id="id"
        name="id"
        type="search"
        placeholder="Find an id"
        autocomplete="off"
        spellcheck="false"
        required
      />
    </form>
    ${freshnessOf(header, view === 'feedback' ? 'feedback' : 'logs')}
  </header>`
}

/** Creates a link to the status view. Its text is the time up to which all records are visible. */
export function freshnessOf({ nowMs, freshness, problems }: Header, kind: RecordKind): Html {
  const { visibleUntilMs, isLate } = freshness[kind]
  const name = kind === 'logs' ? 'Events' : 'Feedback'
  const down = problems.filter(({ state }) => state === 'down').length
  const isBad = isLate || down > 0 || visibleUntilMs === undefined
  const text =
    visibleUntilMs === undefined
      ? html`${name} complete up to <b>not known</b>`
      : html`<i class="hide">${name} </i>complete up to ${clockTime(visibleUntilMs)}
          <b>${shortDuration(Math.max(0, nowMs - visibleUntilMs) / 1_000)} behind</b>`
  const more =
    down > 0 ? html` · <b>${down === 1 ? 'a problem' : `${down} problems`}</b>` : undefined
  return html`<a class="${isBad ? 'fresh is-late' : 'fresh'}" href="/status"
    >${icon(isBad ? 'warn' : 'ok')}<span>${text}${more}</span></a
  >`
}

/** Prints the time of day in UTC, with the date if it is not today's. */
export function clockTime(ms: number, nowMs = Date.now()): string {
  const printed = new Date(ms).toISOString()
  const isToday = printed.slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10)
  return isToday ? printed.slice(11, 19) : printed.slice(0, 19).replace('T', ' ')
}
