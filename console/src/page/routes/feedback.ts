import { quantity } from '@intake/runtime'
import { chart } from '../charts.ts'
import { csvRowsMax, readFeedbackCsv } from '../feedback-csv.ts'
import { readFeedbackFacets, type FeedbackFacets } from '../feedback-facets.ts'
import { findById } from '../find-records.ts'
import { clientText, html, type Html, listMarksMax, listText } from '../html.ts'
import { listRecords } from '../list-records.ts'
import { wholeNumber } from '../numbers.ts'
import { chosenPeriod, withinPeriod, type ChosenPeriod } from '../period.ts'
import type { FeedbackSummary, Found, FullRecord } from '../records.ts'
import { isShort, printSearch, stepAt, type ListSearch } from '../search.ts'
import { readCursor, readExact, readSearch, withoutPeriod } from '../search.ts'
import { document } from '../views/document.ts'
import { feedbackPane, fieldChip, firstLine } from '../views/feedback-pane.ts'
import { filterForm } from '../views/filter-form.ts'
import { appTag, byName, cursorOf, exactPath, helpLink, listPath } from '../views/links.ts'
import { msOf, timeTag, nextPage } from '../views/links.ts'
import { ago, bars, card, choice, list, meta, periodLinks } from '../views/parts.ts'
import { withoutThumbnails, type SignPicture } from '../views/pictures.ts'
import type { Header } from '../worker-state.ts'
import type { ViewContext } from './context.ts'

/** `GET /feedback`: the inbox; `GET /feedback.csv`: what it lists, as a file. */
export function feedbackRoutes({ reader, sign, counts, cachedBriefly, view }: ViewContext) {
  view('/feedback', async ({ query, header }) => {
    const search = readSearch(query, 'feedback')
    const chosen = chosenPeriod(query, search, { absent: '30d', nowMs: header.nowMs })
    const { period, steps } = chosen
    const rest = withoutPeriod(search)
    const place = readExact(query, 'open')
    const [found, facets] = await Promise.all([
      listRecords(reader, 'feedback', withinPeriod(search, chosen)),
      cachedBriefly(JSON.stringify(['feedback', rest, steps]), async () =>
        readFeedbackFacets(await counts(), rest, steps),
      ),
    ])
    const [first] = found.rows
    const wanted = place === undefined ? first && cursorOf(first) : readCursor(place)
    const [record] = wanted ? await findById(reader, 'feedback', wanted) : []
    const inbox = { header, found, facets, chosen, sign, open: record?.columns }
    const listed = chosen.isGiven ? { ...search, period } : search
    // Counts lead to lists of the same period.
    const counted = { ...search, period, after: undefined }
    return document({
      header,
      view: 'feedback',
      title: 'Feedback',
      tools: periodLinks(period, '/feedback', { query: printSearch(rest) }),
      body: html`${filterForm({ path: '/feedback', search: listed })}
        ${chips(facets, counted)}${withoutThumbnails(header)}
        <div class="${place === undefined ? 'mail' : 'mail chosen'}">
          <div>
            <ol>
              ${found.rows.map((row) => item(row, inbox, listed))}
            </ol>
            ${nextPage('feedback', listed, found)}
          </div>
          ${pane(inbox, listed)}
        </div>
        <div class="grid">${countCards(inbox, counted)}</div>
        <p class="mute">
          ${wholeNumber(facets.total)} feedback in this period. A webhook takes them to GitHub,
          Slack or Teams, where they get a state and an owner: ${helpLink('docs/webhook.md')}.
        </p>`,
    })
  })
  view('/feedback.csv', async ({ query, header }) => {
    const search = readSearch(query, 'feedback')
    const { steps } = chosenPeriod(query, search, { absent: '30d', nowMs: header.nowMs })
    return { file: 'feedback.csv', csv: await readFeedbackCsv(reader, search, steps) }
  })
}

interface Inbox {
  header: Header
  found: Found<FeedbackSummary>
  /**
   * What is read beside the list; undefined if the list is empty. On a phone it is shown instead of
   * the list if the reader has chosen it.
   */
  open: FullRecord['columns'] | undefined
  facets: FeedbackFacets
  chosen: ChosenPeriod
  sign: SignPicture
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
      count > 0 && quantity(count, 'picture'),
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

function chips(facets: FeedbackFacets, counted: ListSearch): Html | undefined {
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

function countCards({ facets, chosen: { steps } }: Inbox, counted: ListSearch): Html {
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
