import t from 'tap'
import { chart, spark, type Point } from '../../src/page/charts.ts'
import { html } from '../../src/page/html.ts'

const hourMs = 3_600_000
const points: Point[] = Array.from({ length: 168 }, (_, n) => ({
  t: Date.UTC(2026, 10, 18) + n * hourMs,
  events: n * 7,
  refused: n % 5,
}))
const draw = (some: readonly Point[], completeUntilMs = Infinity) =>
  chart({
    points: some,
    stepMs: hourMs,
    label: 'Events',
    completeUntilMs,
    href: (t) => `/events?from=${t}&to="`,
    columns: [
      ['events', html`<b>x</b>`],
      ['refused', 'refused'],
    ],
  }).toString()

t.test('a chart has a table with the same numbers and links', async (t) => {
  const text = draw(points)
  const cells = Array.from(text.matchAll(/<td class="num">([\d,]+)(?=<)/g), ([, it = '']) =>
    Number(it.replaceAll(',', '')),
  )
  const all = points.toReversed().flatMap((point) => [point.events, point.refused])
  t.same(cells, all)
  const links = text.match(/href="\/events\?from=\d+&#38;to=&#34;"/g)
  t.equal(links?.length, 2 * points.length, 'in the picture and in the table')
})

t.test('a chart has no style, no colour and no width of its own', async (t) => {
  const text = draw(points)
  t.notMatch(text, /style|fill=|stroke=|viewBox|#[0-9a-f]{3}/)
  t.match(text, 'aria-hidden="true"')
})

t.test('steps that are not complete are pale', async (t) => {
  const part = (text: string) => text.match(/class="part"/g)?.length ?? 0
  t.equal(part(draw(points)), 0)
  // Counts are complete up to 22:30, so those of the last two steps are not. Each of these steps
  // has events and refusals, so four columns are pale.
  t.equal(part(draw(points, Date.UTC(2026, 10, 24, 22, 30))), 4)
})

t.test('a chart with zeros only is drawn, one without points says so', async (t) => {
  t.match(draw([]), 'Not counted.')
  t.match(draw(points.map(({ t }) => ({ t, events: 0, refused: 0 }))), '<svg')
  t.match(spark([]).toString(), '<svg')
})
