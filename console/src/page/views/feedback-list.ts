import { plural } from '@intake/runtime'
import { chart } from '../charts.ts'
import type { ChosenPeriod } from '../period.ts'
import { csvRowsMax } from '../feedback-csv.ts'
import type { FeedbackFacets } from '../feedback-facets.ts'
import { clientText, html, type Html, listMarksMax, listText } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { FeedbackSummary, Found, FullRecord } from '../records.ts'
import { isShort, printSearch, stepAt, withoutPeriod } from '../search.ts'
import type { ListSearch, Search } from '../search.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { feedbackPane, fieldChip, firstLine } from './feedback-pane.ts'
import { filterForm } from './filter-form.ts'
import { appTag, byName, exactPath, helpLink, listPath, msOf, timeTag, nextPage } from './links.ts'
import { ago, bars, card, choice, list, meta, periodLinks } from './parts.ts'
import { withoutThumbnails, type SignPicture } from './pictures.ts'

interface Inbox {
  header: Header
  search: Search
  found: Found<FeedbackSummary>
  /** What is read beside the list; undefined if the list is empty. */
  open: FullRecord['columns'] | undefined
  /** Whether the reader has chosen it; if so, a phone shows it instead of the list. */
  isChosen: boolean
  facets: FeedbackFacets
  chosen: ChosenPeriod
  sign: SignPicture
}

export function feedbackList(options: Inbox): Html {
  const { header, search, found, facets, chosen, isChosen } = options
  const { period } = chosen
  const listed = chosen.isGiven ? { ...search, period } : search
  const query = printSearch(withoutPeriod(search))
  // Counts lead to lists of the same period.
  const counted = { ...search, period, after: undefined }
  return document({
    header,
    view: 'feedback',
    title: 'Feedback',
    tools: periodLinks(period, '/feedback', { query }),
    body: html`${filterForm({ path: '/feedback', search: listed })}
      ${chips(options, counted)}${withoutThumbnails(header)}
      <div class="${isChosen ? 'mail chosen' : 'mail'}">
        <div>
          <ol>
            ${found.rows.map((row) => item(row, options, listed))}
          </ol>
          ${nextPage('feedback', listed, found)}
        </div>
        ${pane(options, listed)}
      </div>
      <div class="grid">${counts(options, counted)}</div>
      <p class="mute">
        ${wholeNumber(facets.total)} feedback in this period. A webhook takes them to GitHub, Slack
        or Teams, where they get a state and an owner: ${helpLink('docs/webhook.md')}.
      </p>`,
  })
}

const openQuery = (listed: ListSearch, row: FeedbackSummary): string => {
  const open = [row.id, row.device_uuid, row.bundle_identifier].join('.')
  const query = `?${printSearch(listed)}&${new URLSearchParams({ open }).toString()}`
  return isShort(query) ? query : exactPath('feedback', row, listed.application)
}

function item(row: FeedbackSummary, { header, open }: Inbox, listed: ListSearch): Html {
  const count = row.attachments.length
  const isOpen = row.id === open?.id && row.device_uuid === open.device_uuid
  const title = clientText(firstLine(row.text_start) || 'No text', 300, listMarksMax)
  return html`<li ${isOpen && html` class="open"`}>
    ${choice(openQuery(listed, row), title, isOpen)}
    ${meta([
      header.app === undefined && appTag(row.bundle_identifier),
      timeTag(row.time, ago(msOf(row.time), header.nowMs)),
      row.version && listText(row.version, 60),
      count > 0 && `${count} ${plural(count, 'picture')}`,
      row.email !== null && 'e-mail',
    ])}
  </li> `
}

function pane({ header, found, open, sign }: Inbox, listed: ListSearch): Html | undefined {
  if (open === undefined) return undefined
  const at = found.rows.findIndex(({ id }) => id === open.id)
  const step = (to: FeedbackSummary | undefined, text: string, key: string) =>
    to && html`<a href="${openQuery(listed, to)}" data-key="${key}">${text}</a>`
  return html`<article class="card big" id="reading">
    <p class="pages">
      <a href="?${printSearch(listed)}">List</a
      >${step(found.rows[at - 1], 'Previous', 'k')}${step(found.rows[at + 1], 'Next', 'j')}<a
        href="${exactPath('feedback', open, header.app)}"
        >What this device did</a
      >
    </p>
    <h2>${clientText(firstLine(String(open['text'])) || 'No text')}</h2>
    ${feedbackPane({ header, columns: open, sign })}
  </article>`
}

function chips({ facets }: Inbox, counted: ListSearch): Html | undefined {
  const links = [
    ['all', undefined, facets.total],
    ['with pictures', 'pictures', facets.withPictures],
    ['with e-mail', 'email', facets.withEmail],
  ] as const
  const limits = links.map(([name, has, count]) =>
    choice(
      listPath('feedback', { ...counted, has }),
      `${name} ${wholeNumber(count)}`,
      has === counted.has,
    ),
  )
  const rows = facets.total > csvRowsMax ? `the newest ${wholeNumber(csvRowsMax)}` : 'these'
  const file = html`<a href="/feedback.csv?${printSearch(counted)}">CSV of ${rows}</a>`
  const fields = facets.fields.map(({ name, value, count }) =>
    fieldChip(name, value, counted, count),
  )
  return list([...limits, ...fields, file], 'chips')
}

function counts({ facets, chosen: { steps } }: Inbox, counted: ListSearch): Html {
  const columns = chart({
    points: facets.points,
    stepMs: steps.stepMs,
    columns: [['feedback', 'feedback']],
    label: `${wholeNumber(facets.total)} feedback in this period.`,
    href: (from) => listPath('feedback', { ...counted, ...stepAt(from, steps) }),
  })
  const limitedTo = (one: ListSearch) => listPath('feedback', { ...counted, ...one })
  const series = 'feedback'
  const side =
    counted.application === undefined
      ? card(
          'Applications',
          bars(facets.applications, ({ name }) => limitedTo({ application: name }), { series }),
        )
      : card(
          html`Versions <small>per 100 devices</small>`,
          bars(facets.versions, ({ name }) => limitedTo(byName('version', name)), {
            series,
            noteOf: ({ perHundred }) => perHundred?.toFixed(1),
          }),
        )
  return html`${card('By time', columns)}${side}`
}
