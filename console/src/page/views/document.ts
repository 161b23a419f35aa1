import type { RecordKind } from '@intake/contract'
import { plural, version } from '@intake/runtime'
import { icon as iconFile, keysScript, liveScript, stylesheet } from '../assets.ts'
import { html, type Html, type HtmlValue, listText } from '../html.ts'
import { shortDuration } from '../numbers.ts'
import type { Header, PageProblem } from '../worker-state.ts'
import { searchLengthMax } from '../search.ts'
import { clockTime, zoneLabel, zoneName } from '../zone.ts'
import { applicationPath, appTag, withApp } from './links.ts'
import { badge, choice, details, icon, list, segments } from './parts.ts'

const views = ['Overview', 'Live', 'Events', 'Feedback', 'Status'] as const
export type View = Lowercase<(typeof views)[number]>

/** A browser that runs no scripts loads the live view again after this time. */
const refreshSeconds = 5

interface DocumentOptions {
  header: Header
  /** The view whose link is marked as current; absent if the document belongs to no view. */
  view?: View
  /** The title of the window. It never contains a text from a client. */
  title: string
  heading?: HtmlValue
  crumbs?: Html
  tools?: HtmlValue
  alert?: HtmlValue
  body: HtmlValue
  query?: string
  isLive?: boolean
}

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
        ${isLive && live}
      </head>
      <body>
        <a class="vh" href="#main">Skip to the content</a>
        ${headerOf(options)}
        <main id="main">
          ${alert}
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

export const problemView = (header: Header, status: number, message: string): Html =>
  document({ header, title: `Error ${status}`, body: html`<p>${message}</p>` })

const plain = html`maxlength="${searchLengthMax}" autocomplete="off" spellcheck="false"`

export const textField = (name: string, placeholder: string, more?: Html): Html =>
  html`<input id="${name}" name="${name}" placeholder="${placeholder}" ${more} ${plain} />`

/** The fields of a form that keep what a query string says. */
export const hiddenFields = (fields: readonly (readonly [name: string, value: string])[]): Html[] =>
  fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)

function zoneForm({ path, query }: Header): Html {
  const fields = [...query].filter(([name]) => name !== 'tz')
  const other = zoneName() === 'UTC' ? 'Europe/Berlin' : 'UTC'
  return html`<form class="zone" action="${path}">
    <label for="tz">Times are in ${zoneName()}, or in</label>${textField('tz', other)}
    ${hiddenFields(fields)}<button class="outline small">Change</button>
  </form>`
}

function viewPath(view: View, app: string | undefined): string {
  if (view !== 'overview') return withApp(`/${view}`, app)
  return app === undefined ? '/' : applicationPath(app)
}

function headerOf({ header, view, query = '' }: DocumentOptions): Html {
  const { app, deadLetters } = header
  const letters =
    deadLetters > 0 &&
    html` ${badge(html`${deadLetters}<span class="vh"> dead letters</span>`, 'danger')}`
  const links = views.map((name) => {
    const one = name.toLowerCase() as View
    const content = html`${name}${one === 'status' && letters}`
    return choice(viewPath(one, app), content, one === view, 'page')
  })
  return html`<header class="top">
    <a class="brand" href="/"><img src="${iconFile.path}" alt="" width="20" height="20" />Intake</a>
    ${appSwitch(header, view ?? 'overview')} ${segments('Views', links)}
    <form class="find" action="/search" role="search">
      <label class="vh" for="q"
        >Find an id, e-mail, event, user, device, param or application</label
      >
      ${textField('q', 'Find anything', html`type="search" value="${query}" required`)}${app !== undefined && hiddenFields([['app', app]])}
    </form>
    ${freshnessOf(header, view === 'feedback' ? 'feedback' : 'logs')}
  </header>`
}

function appSwitch({ app, applications }: Header, view: View): Html | undefined {
  if (app === undefined && applications.length < 2) return undefined
  const all = 'All applications'
  const links = [undefined, ...applications].map((name) => {
    const content = name && html`${appTag(name)} <small>${listText(name, 60)}</small>`
    return choice(viewPath(view, name), content ?? all, name === app)
  })
  return details(app === undefined ? all : appTag(app), list(links), 'apps')
}

export function freshnessOf({ app, nowMs, freshness, problems }: Header, kind: RecordKind): Html {
  const { visibleUntilMs, isLate } = freshness[kind]
  const down = problems.filter(({ state }) => state === 'down')
  const isBad = isLate || down.length > 0
  const some = `${down.length === 1 ? 'a' : down.length} ${plural(down.length, 'problem')}`
  const state = down.length > 0 ? (storing(down) ?? some) : undefined
  const text =
    visibleUntilMs === undefined
      ? (state ?? 'starting')
      : html`<span class="hide">complete up to ${clockTime(visibleUntilMs)}</span>
          ${zoneLabel(nowMs)} ·
          <b>${shortDuration(Math.max(0, nowMs - visibleUntilMs) / 1_000)} behind</b
          >${state && html` · <b>${state}</b>`}`
  const variant = isBad ? 'warning' : 'success'
  return html`<a class="fresh badge" href="${withApp('/status', app)}" data-variant="${variant}"
    >${icon(isBad ? 'warn' : 'ok')}<span>${text}</span></a
  >`
}

/** What still works while ClickHouse is away: gateways accept, and nothing is lost. */
const storing = (down: readonly PageProblem[]): string | undefined =>
  down.every(({ code }) => code !== 'redis_connection') &&
  down.some(({ code }) => /^(?:insert|clickhouse)_|^rows_refused$/.test(code))
    ? 'accepting, not storing'
    : undefined
