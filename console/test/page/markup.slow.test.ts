import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { addDeadLetter } from '@intake/records'
import { ago, linksIn, startRowStore, view } from './fixture.ts'
import { hostileRecords, joinedTexts } from './hostile-records.ts'
import { checkMarkup } from './markup.ts'

const { owner, insert, startReaderPage } = await startRowStore(t)
const device = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'

t.test('no text of a client is markup, in any view', async (t) => {
  const time = ago(600)
  const texts = joinedTexts(6)
  for (const text of texts) {
    const { feedback, log } = hostileRecords(text, { time, device })
    await insert('feedback', [feedback])
    await insert('logs', [log])
    const row = JSON.stringify(hostileRecords(text, { time, device }).feedback)
    const cause = { kind: 'rejected', code: 117, serverText: text } as const
    const refusal = new ClickHouseError('rejected', cause)
    await addDeadLetter(owner, { table: 'feedback', row, refusal })
  }
  const { url } = await startReaderPage(t)

  // Visits every page, by following the links from the lists.
  const seen = new Set<string>()
  const waiting = [
    '/',
    '/events',
    '/dead-letters',
    '/live',
    '/feedback',
    `/feedback?text=${encodeURIComponent('"><script>')}`,
  ]
  while (waiting.length > 0) {
    const path = waiting.pop()!
    if (seen.has(path) || !path.startsWith('/') || /^\/(page|live|icon)\./.test(path)) continue
    // Skips lists of a period, to which each column of a chart links, lists with a second filter,
    // which looks like the first, and the help, which shows no text of a client.
    if (/[?&](from|period)=|^\/(events|live|feedback)\?.*&|^\/help\//.test(path)) continue
    seen.add(path)
    const { status, text } = await view(url, path)
    t.equal(status, 200, path)
    checkMarkup(t, text, path)
    for (const [svg] of text.matchAll(/<svg[^]*?<\/svg\s*>/g)) {
      t.notMatch(
        svg.replaceAll(/\shref="[/?][^"]*"/g, ''),
        /<bdi|&#|<script|<style|<image|<foreignObject|href="[^/?]/,
        `${path}: no text of a client in SVG`,
      )
    }
    waiting.push(...linksIn(text, path))
  }
  t.ok(seen.size > 20, `${seen.size} pages`)
  const found = [...seen].filter((path) => path.startsWith('/feedback/'))
  t.equal(new Set(found.map((path) => path.split('?')[0])).size, texts.length)
})
