import { hourMs } from '@intake/contract'
import { html, type Html, type HtmlValue } from '../html.ts'
import type { OverviewData } from '../overview.ts'
import type { Header } from '../worker-state.ts'
import { helpLink } from './links.ts'
import { card, icon } from './parts.ts'

/** The names of keys that were made for the reader. */
const madeByOthers = new Set(['npm start', 'intake demo'])

/** A gateway knows a new key after five seconds at the latest. */
const create = (command: string) =>
  `KEY=$(${command} keys create --name my-app --bundle com.example.shop) && sleep 5 && echo $KEY`

const curl = (path: string, start: string, record: string) =>
  `curl ${path} -H "x-api-key: $KEY" ${start}{
  "bundle_identifier": "com.example.shop", "device_uuid": "df5d5c64-dba0-4337-96e2-72a3049d0d09",
  "unique_user_id": "me", "device": { "os": "Android", "version_name": "1.0.0" },
  ${record} }'`

/** The first steps with a new installation, until the first hour is over; then undefined. */
export function checklist(options: {
  header: Header
  data: Pick<OverviewData, 'firstAtMs' | 'names'>
  isNew: boolean
  urls: readonly string[]
}): Html | undefined {
  const { header, data, isNew, urls } = options
  const { firstAtMs, names } = data
  const first = Math.min(firstAtMs.logs ?? Infinity, firstAtMs.feedback ?? Infinity)
  const isOver = first === Infinity || header.nowMs - first > hourMs
  if (isOver && !isNew) return undefined
  const [url = 'http://127.0.0.1:3000'] = urls
  const steps: [isDone: boolean, title: string, how: HtmlValue][] = [
    [
      [...names.values()].some((name) => !madeByOthers.has(name)),
      'Create a key',
      html`<pre>${create('./intake')}</pre>
        With Docker Compose:
        <pre>${create('docker compose run --rm -T migrate')}</pre>
        This page cannot show a key, because only hashes of keys are stored. The next steps use
        <code>$KEY</code>.`,
    ],
    [
      firstAtMs.logs !== null,
      'Send an event',
      html`<pre>
${curl(`${url}/api/log`, "-H 'content-type: application/json' -d '", '"log": { "event": "hello", "params": { "from": "curl" } }')}</pre>
        The event is on <a href="/live">Live</a> about a second later. Or let
        <code>./intake demo</code> send some for you.`,
    ],
    [
      firstAtMs.feedback !== null,
      'Send feedback',
      html`<pre>
${curl(`${url}/api/feedback`, "-F 'payload=", '"feedback": { "text": "Hello!", "email": "me@example.com" }')}</pre>`,
    ],
    [
      false,
      'Connect a tool',
      html`<code>./intake connect</code> prints what Python, Grafana, DBeaver and others need:
        ${helpLink('docs/connect.md')}`,
    ],
  ]
  const items = steps.map(([isDone, title, how]) => {
    const summary = html`${isDone && html`${icon('ok')} <span class="vh">done: </span>`}${title}`
    return html`<details ${!isDone && isNew && html`open`}>
      <summary>${summary}</summary>
      ${how}
    </details>`
  })
  return card(isNew ? 'Nothing has arrived yet' : 'The first hour', items)
}
