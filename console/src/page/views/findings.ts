import { plural } from '@intake/runtime'
import { clientText, html, type Html, type HtmlValue } from '../html.ts'
import { percent, shortDuration, wholeNumber } from '../numbers.ts'
import { findingsMax, type RaisedAlert } from '../findings.ts'
import type { Summary } from '../overview.ts'
import type { Header, KeyBudget } from '../worker-state.ts'
import { ago, card, countedNote, list, mute } from './parts.ts'
import { applicationPath, listPath, withApp } from './links.ts'

/** Counts that are older than this are worth a sentence. */
const behindMs = 10 * 60_000
const sentencesMax = 5

/**
 * Sentences about what changed, each with a link; undefined if there is none. At most five, one of
 * each kind; with `all` in the query string, all that were read.
 */
export function findingList(options: {
  header: Header
  data: Summary
  budgets: readonly KeyBudget[]
}): Html | undefined {
  const { header, data, budgets } = options
  const { findings, countedAtMs, isExact } = data
  const status = withApp('/status', header.app)
  const isWhole = header.query.has('all')
  const whole = `?${new URLSearchParams([...header.query, ['all', '']]).toString()}`
  function about<One>(
    found: readonly One[],
    print: (one: One) => [href: string, link: HtmlValue, rest: HtmlValue],
  ): Html[] {
    const shown = isWhole ? found : found.slice(0, 1)
    const more = found.length - shown.length
    return shown.map((one) => {
      const [href, link, rest] = print(one)
      return html`<a href="${href}">${link}</a
        >${rest}${more > 0 && html` <a href="${whole}"><small>and ${more}${isFull(found) && '+'} more like this</small></a>`}`
    })
  }
  const behind = countedAtMs === undefined ? 0 : header.nowMs - countedAtMs
  const since = (ms: number) => ago(ms, header.nowMs)
  const sentences = [
    about(findings.alerts, (one) => [
      applicationPath(one.bundle_identifier),
      html`The alert on ${alertName(one)} ${one.state === 'firing' ? 'fires' : 'is unknown'}`,
      html` in ${name(one)}${one.value !== null && `: ${wholeNumber(one.value)} in its window`},
      ${since(one.sinceMs)}`,
    ]),
    about(findings.newErrors, (one) => [
      eventsOf(one),
      html`${clientText(one.event, 100)} ${one.before > 0 ? 'is more frequent' : 'is new'}`,
      html` in ${name(one)}${one.version && html` ${clientText(one.version, 60)}`}:
      ${wholeNumber(one.events)}
      ${plural(one.events, 'event')}${one.before > 0 && `, ${wholeNumber(one.before)} in older versions`}`,
    ]),
    about(findings.silent, (one) => [
      applicationPath(one.bundle_identifier),
      html`${name(one)} is silent`,
      `: its last event came ${since(one.atMs)}`,
    ]),
    about(findings.stopped, (one) => [
      eventsOf(one),
      html`${clientText(one.event, 100)} stopped`,
      html` in ${name(one)}: the last came ${since(one.atMs)}`,
    ]),
    about(findings.drift, (one) => [
      applicationPath(one.bundle_identifier, '?tab=catalogue#drift'),
      html`${clientText(one.param, 100)} became ${one.after} in version
      ${clientText(one.version_to, 60)}`,
      html`, it was ${one.before}: ${clientText(one.event, 100)} of ${name(one)}`,
    ]),
    about(findings.personal, (one) => [
      applicationPath(one.bundle_identifier, '?tab=catalogue#warnings'),
      html`${clientText(one.event, 100)} sends ${personal[one.warning]}`,
      html` in params.${clientText(one.path, 100)}, in ${name(one)}. ${removal(one)}`,
    ]),
    about(budgets, (one) => [
      `${status}#keys`,
      html`The key ${clientText(one.name, 100)} has used ${percent(one.share)} of its day`,
      `: at 100 % its ${one.limit} are refused until midnight, UTC`,
    ]),
    about(isExact || behind <= behindMs ? [] : [behind], (ms) => [
      status,
      `Counts are ${shortDuration(ms / 1_000)} old`,
      ': the records are there, Events and Live show them',
    ]),
  ].flat()
  const isCut = [budgets, ...Object.values({ ...findings, alerts: [] })].some(isFull)
  return findingCard(sentences, { ...data, isCut }, isWhole ? undefined : whole)
}

/** @param whole the link to all sentences; undefined if they are shown */
function findingCard(sentences: Html[], data: Summary & { isCut: boolean }, whole?: string) {
  const shown = list(whole === undefined ? sentences : sentences.slice(0, sentencesMax))
  const left = sentences.length - sentencesMax
  const rest =
    whole === undefined
      ? data.isCut && `Of each kind, at most ${findingsMax} are read.`
      : left > 0 && html`<a href="${whole}">and ${left} more</a>`
  const counted = countedNote({ countedAtMs: data.countedAtMs })
  const note = data.isExact && html` <small>types and warnings ${counted}</small>`
  return shown && card(html`Look at this${note}`, html`${shown}${mute(rest)}`)
}

const isFull = ({ length }: readonly unknown[]) => length === findingsMax

const personal: Readonly<Record<string, string>> = {
  email: 'e-mail addresses',
  card: 'numbers of payment cards',
}

const eventsOf = (one: { bundle_identifier: string; event: string }) =>
  listPath('logs', { application: one.bundle_identifier, event: one.event, period: '30d' })

const name = ({ bundle_identifier: application }: { bundle_identifier: string }) =>
  clientText(application, 100)

/** The command that removes a param with personal data, if its names can be typed. */
function removal(one: { bundle_identifier: string; path: string }): Html | undefined {
  const path = `params.${one.path.replaceAll('%2E', '.')}`
  if (![one.bundle_identifier, path].every((word) => /^[\w.-]{1,100}$/.test(word))) return undefined
  return html`<code>./intake rules add remove ${path} --bundle ${one.bundle_identifier}</code>`
}

const alertName = ({ event }: RaisedAlert): Html | string =>
  event === '' ? 'a new crash' : clientText(event, 100)
