import type { RecordKind } from '@intake/contract'
import { version } from '@intake/runtime'
import { icon as iconFile, keysScript, liveScript, stylesheet } from '../assets.ts'
import { patterns } from '../charts.ts'
import { listText } from '../client-text.ts'
import { html, type Html, type HtmlValue } from '../html.ts'
import { shortDuration } from '../numbers.ts'
import type { Header, PageProblem } from '../worker-state.ts'
import { searchLengthMax } from '../search.ts'
import { clockTime, zoneLabel, zoneName } from '../zone.ts'
import { applicationPath, applicationTag, withApp } from './links.ts'
import { icon } from './parts.ts'

const views = {
  overview: { path: '/', name: 'Overview' },
  live: { path: '/live', name: 'Live' },
  events: { path: '/events', name: 'Events' },
  feedback: { path: '/feedback', name: 'Feedback' },
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
  /** What the reader has searched for; the box that finds keeps it. */
  query?: string
  /** Whether the document has the live view's script. */
  isLive?: boolean
}

/**
 * Creates the whole document of a view: the head, the links to all views, `body` and the footer.
 */
export function document(options: DocumentOptions): Html {
  const { header, title, heading = title, crumbs, tools, alert, body, isLive = false } = options
  const live = html`<script src="${liveScript.path}" defer></script>
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
        <script src="${keysScript.path}" defer></script>
        ${isLive ? live : undefined}
      </head>
      <body>
        <a class="vh" href="#main">Skip to the content</a>
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
          <span>Page of ${clockTime(header.nowMs)} · Intake ${version}</span>${zoneForm(header)}
        </footer>
      </body>
    </html> `
}

/** Where the reader chooses the zone of all times. It leads to the same view. */
function zoneForm({ url }: Header): Html {
  const [path = '/', query = ''] = url.split('?', 2)
  const fields = [...new URLSearchParams(query)].filter(([name]) => name !== 'tz')
  const isUtc = zoneName() === 'UTC'
  return html`<form class="zone" action="${path}">
    <label for="tz">Times are in</label
    ><input
      id="tz"
      name="tz"
      value="${isUtc ? '' : zoneName()}"
      placeholder="UTC"
      maxlength="60"
    />${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}<button
      class="outline small"
    >
      Change
    </button>
  </form>`
}

const viewPath = (view: View, app: string | undefined): string =>
  view === 'overview' && app !== undefined ? applicationPath(app) : withApp(views[view].path, app)

function headerOf({ header, view, query = '' }: DocumentOptions): Html {
  const { app, deadLetters } = header
  const names = Object.keys(views) as View[]
  const links = names.map((name) => {
    const badge =
      name === 'status' && deadLetters > 0
        ? html` <span class="count">${deadLetters}<span class="vh"> dead letters</span></span>`
        : undefined
    return html`<a
      href="${viewPath(name, app)}"
      ${name === view ? html` aria-current="page"` : undefined}
      >${views[name].name}${badge}</a
    >`
  })
  return html`<header class="top">
    <a class="brand" href="/"
      ><svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path d="M3 2.5h14v10.5H9l-6 5z" />
        <path class="cut" d="M6.5 6h7M6.5 9.5h4.5" /></svg
      >Intake</a
    >
    ${appSwitch(header, view ?? 'overview')}
    <nav aria-label="Views">${links}</nav>
    <form class="find" action="/search" role="search">
      <label class="vh" for="q"
        >Find an id, e-mail, event, user, device, param or application</label
      >
      <input
        id="q"
        name="q"
        type="search"
        value="${query}"
        maxlength="${searchLengthMax}"
        placeholder="Find anything"
        autocomplete="off"
        spellcheck="false"
        required
      />${app === undefined ? undefined : html`<input type="hidden" name="app" value="${app}" />`}
    </form>
    ${freshnessOf(header, view === 'feedback' ? 'feedback' : 'logs')}
  </header>`
}

/** The choice of one application for all views. It leads to the same view. */
function appSwitch({ app, applications }: Header, view: View): Html | undefined {
  if (app === undefined && applications.length < 2) return undefined
  const link = (to: string | undefined, content: HtmlValue) =>
    html`<li>
      <a href="${viewPath(view, to)}" ${to === app ? html` aria-current="true"` : undefined}
        >${content}</a
      >
    </li>`
  return html`<details class="apps">
    <summary>${app === undefined ? 'All applications' : applicationTag(app)}</summary>
    <ul>
      ${link(undefined, 'All applications')}${applications.map((name) => link(name, html`${applicationTag(name)} <small>${listText(name, 60)}</small>`))}
    </ul>
  </details>`
}

/** Creates a link to the status view. Its text is the time up to which all records are visible. */
export function freshnessOf({ nowMs, freshness, problems }: Header, kind: RecordKind): Html {
  const { visibleUntilMs, isLate } = freshness[kind]
  const down = problems.filter(({ state }) => state === 'down')
  const isBad = isLate || down.length > 0
  const state = down.length === 0 ? undefined : (storing(down) ?? problemCount(down.length))
  const text =
    visibleUntilMs === undefined
      ? (state ?? 'starting')
      : html`<i class="hide">complete up to ${clockTime(visibleUntilMs)} ${zoneLabel(nowMs)}</i>
          <b>${shortDuration(Math.max(0, nowMs - visibleUntilMs) / 1_000)} behind</b
          >${state && html` · <b>${state}</b>`}`
  return html`<a class="${isBad ? 'fresh is-late' : 'fresh'}" href="/status"
    >${icon(isBad ? 'warn' : 'ok')}<span>${text}</span></a
  >`
}

const problemCount = (count: number) => (count === 1 ? 'a problem' : `${count} problems`)

/** What still works while ClickHouse is away: gateways accept, and nothing is lost. */
const storing = (down: readonly PageProblem[]): string | undefined =>
  down.every(({ code }) => code !== 'redis_connection') &&
  down.some(({ code }) => /^(?:insert|clickhouse)_|^rows_refused$/.test(code))
    ? 'accepting, not storing'
    : undefined
