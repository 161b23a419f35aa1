import { lanes } from '../charts.ts'
import type { FeedbackFacets } from '../feedback-facets.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { PeriodName, Steps } from '../period.ts'
import type { FeedbackSummary, Found } from '../records.ts'
import { printSearch, type ListSearch, type Search } from '../search.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { feedbackItems } from './feedback-items.ts'
import { filterForm } from './filter-form.ts'
import { listPath, byName } from './links.ts'
import { nextPage } from './next-page.ts'
import { bars, card, periodLinks } from './parts.ts'
import { withoutThumbnails, type SignPicture } from './pictures.ts'

export function feedbackList(options: {
  header: Header
  search: Search
  found: Found<FeedbackSummary>
  facets: FeedbackFacets
  steps: Steps
  /** Undefined if the reader has chosen a beginning or an end instead. */
  period: PeriodName | undefined
  /** Whether the reader has chosen `period`; if so, the list is limited to it. */
  isGiven: boolean
  sign: SignPicture
}): Html {
  const { header, search, found, facets, steps, period, isGiven, sign } = options
  const { after: _, from, to, ...rest } = search
  return document({
    header,
    view: 'feedback',
    title: 'Feedback',
    tools: periodLinks(period, '/feedback', { query: printSearch(rest) }),
    body: html`${filterForm({
        path: '/feedback',
        fields: [
          'text',
          'application',
          'version',
          'user',
          ...(search.device === undefined ? [] : (['device'] as const)),
        ],
        search,
        suggestions: { application: facets.applications.map(({ name }) => name) },
        hidden: {
          from: from?.toISOString(),
          to: to?.toISOString(),
          has: search.has,
          without: search.without,
          period,
        },
      })}
      <div class="grid g31">
        <div>
          ${withoutThumbnails(header)}
          ${feedbackItems({ rows: found.rows, sign, nowMs: header.nowMs })}${nextPage('feedback', isGiven ? { ...search, period } : search, found)}
        </div>
        <aside class="side">
          ${sideOf({ search: rest, within: { from, to, period }, facets, steps })}
        </aside>
      </div>`,
  })
}

function sideOf(options: {
  search: Search
  /** The period that was counted. The lists that the counts link to have the same period. */
  within: ListSearch
  facets: FeedbackFacets
  steps: Steps
}): Html {
  const { search, within, facets, steps } = options
  const { has: _, ...all } = search
  const chips = [
    ['all', all, undefined],
    ['with pictures', { ...all, has: 'pictures' as const }, facets.withPictures],
    ['with e-mail', { ...all, has: 'email' as const }, facets.withEmail],
  ] as const
  const show = chips.map(
    ([name, to, count]) =>
      html`<li>
        <a
          href="${listPath('feedback', { ...to, ...within })}"
          ${('has' in to ? to.has : undefined) === search.has ? html` aria-current="true"` : undefined}
          >${name}${count === undefined ? undefined : ` ${wholeNumber(count)}`}</a
        >
      </li>`,
  )
  const chart = lanes({
    points: facets.points,
    stepMs: steps.stepMs,
    label: `${wholeNumber(facets.total)} feedback in this period. The table below has every step.`,
    href: (from) =>
      listPath('feedback', { ...search, from: new Date(from), to: new Date(from + steps.stepMs) }),
    ticks: 4,
    lanes: [
      {
        columns: [{ key: 'feedback', series: 'feedback', name: 'feedback' }],
        height: 60,
        ticks: 2,
      },
    ],
  })
  return html`${card(html`By time <small>${wholeNumber(facets.total)}</small>`, chart)}
  ${card(
    'Show',
    html`<ul class="chips">
      ${show}
    </ul>`,
  )}
  ${card(
    html`Versions <small>per 100 devices</small>`,
    bars(
      facets.versions.map(({ name, count, perHundred }) => ({
        name,
        count,
        note: perHundred?.toFixed(1),
        href: listPath('feedback', { ...search, ...within, ...byName('version', name) }),
      })),
      'feedback',
    ),
  )}
  ${card(
    'Applications',
    bars(
      facets.applications.map(({ name, count }) => ({
        name,
        count,
        href: listPath('feedback', { ...search, ...within, application: name }),
      })),
      'feedback',
    ),
  )}`
}
