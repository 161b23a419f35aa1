import { parseTime } from '@intake/runtime'
import { clientText, html, type Html } from '../html.ts'
import { shortDuration, wholeNumber } from '../numbers.ts'
import type { Attachment, FullRecord } from '../records.ts'
import type { ListSearch } from '../search.ts'
import type { Header } from '../worker-state.ts'
import { appTag, listLink, msOf, timeTag } from './links.ts'
import { printValue } from './params.ts'
import { ago, list, meta } from './parts.ts'
import { pictures, type SignPicture } from './pictures.ts'

const headingMax = 120
/** Only a plain address becomes a link: any text may be sent as one. */
const isAddress = /^[\w.+-]{1,64}@[\w.-]{1,190}$/
/** A mail program may cut a longer address. */
const quotedMax = 1_200
/** Our clients say here when a feedback was written. */
const writtenPath = 'feedback.timestamp'
/** Feedback that arrived this much later than it was written shows both times. */
const lateMs = 60_000
const chipsMax = 12
/** A longer path and value are shown without a link. */
const linkedMax = 200

export function firstLine(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1)
  const signs = Array.from(line.slice(0, 2 * headingMax))
  return signs.length > headingMax ? `${signs.slice(0, headingMax).join('')}…` : line
}

export function feedbackPane(options: {
  header: Header
  columns: FullRecord['columns']
  sign: SignPicture
}): Html {
  const { header, columns, sign } = options
  const { attachments, device, extra, country, bundle_identifier: application } = columns
  const [text, email] = [columns['text'], columns['email']].map((one) =>
    typeof one === 'string' ? one : '',
  ) as [string, string]
  const shown = Array.isArray(attachments) ? (attachments as Attachment[]) : []
  const chips = leaves((extra ?? {}) as Record<string, unknown>).filter(
    ([path, value]) => path !== writtenPath && value !== '',
  )
  const where = typeof country === 'string' && country !== '' ? ` · ${country}` : ''
  const sender = email === '' ? 'no e-mail' : clientText(email, 300)
  return html`${meta([
    header.app === undefined && appTag(application),
    clientText(deviceSentence((device ?? {}) as Record<string, unknown>) + where, 400),
  ])}
  ${meta([
    moments(columns, header.nowMs),
    isAddress.test(email) ? html`<a href="${mailTo(email, text)}">${sender}</a>` : sender,
  ])}
  ${text.trim() !== firstLine(text) && html`<p class="text">${clientText(text)}</p>`}
  ${list(
    chips.slice(0, chipsMax).map(([path, value]) => fieldChip(path, value, { application })),
    'chips',
  )}
  ${pictures(shown, sign, { whole: true })}`
}

function moments({ time, extra }: FullRecord['columns'], nowMs: number): Html {
  const arrived = html`${timeTag(time)}, ${ago(msOf(time), nowMs)}`
  const { timestamp } = ((extra as { feedback?: unknown } | null)?.feedback ?? {}) as {
    timestamp?: unknown
  }
  const written = parseTime(String(timestamp))
  const earlierMs = written === undefined ? 0 : msOf(time) - written.getTime()
  return earlierMs > lateMs
    ? html`written <b>${shortDuration(earlierMs / 1_000)} earlier</b>, arrived ${arrived}`
    : arrived
}

/** A device in one line, such as "Android 12 · Xiaomi M2101K6G · app 2.0.0 (200) · battery 50 %". */
export function deviceSentence(device: Record<string, unknown>): string {
  const of = (name: string) => {
    const value = device[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
  }
  const words = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(' ')
  const code = of('version_code')
  const version = words(of('version_name'), code && `(${code})`)
  const battery = Number(of('battery_level'))
  // Some clients send a part of 1, others percent.
  const percent = Math.round(battery <= 1 ? battery * 100 : battery)
  return [
    words(of('os'), of('android_version') ?? of('os_version')),
    words(of('device_brand') ?? of('manufacturer'), of('device_model')),
    version && `app ${version}`,
    battery > 0 ? `battery ${percent} %` : '',
  ]
    .filter((part) => part !== '')
    .join(' · ')
}

function mailTo(email: string, text: string): string {
  const cut = text.slice(0, quotedMax).toWellFormed()
  const quoted = cut.replaceAll(/^/gm, '> ')
  const body = encodeURIComponent(`\n\n${quoted}`)
  const subject = encodeURIComponent(`Your feedback: ${firstLine(text).toWellFormed()}`)
  return `mailto:${encodeURIComponent(email)}?subject=${subject}&body=${body}`
}

/** A field that a client has added, with a link to the feedback that has this value. */
export function fieldChip(path: string, value: string, search: ListSearch, count?: number): Html {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const number = count && html` ${wholeNumber(count)}`
  const content = html`${clientText(name, 60)} <b>${clientText(value, 200)}</b>${number}`
  const paths = { ...search.paths, [`extra.${path}`]: value }
  return path.length + value.length <= linkedMax
    ? listLink('feedback', { ...search, paths }, content)
    : content
}

function leaves(object: Record<string, unknown>, prefix = ''): [path: string, value: string][] {
  return Object.entries(object).flatMap(([name, value]): [string, string][] => {
    const path = `${prefix}${name}`
    if (value === null || value === undefined) return []
    if (typeof value === 'object') return leaves(value as Record<string, unknown>, `${path}.`)
    return [[path, printValue(value)]]
  })
}
