import t from 'tap'
import { atTime, feedbackRow } from '../../../packages/schema/test/fixture.ts'
import { ago, calmState, linksIn, startRowStore, view } from './fixture.ts'

const { insert, startReaderPage } = await startRowStore(t)

t.test('values of fields that clients have added are counted, and limit the list', async (t) => {
  const extras = [
    { plan: 'pro', feedback: { category: 'it "broke" {', rating: 4.5, timestamp: ago(1) } },
    { plan: 'pro', feedback: { category: 'it "broke" {', rating: 4.5, timestamp: ago(1) } },
    { plan: 'pro', form: { source: 'web' }, feedback: { category: 'idea', rating: 5 } },
    { form: { source: 'web' }, feedback: { tags: ['a'], context: { screen: 'cart' }, empty: '' } },
    { feedback: { tags: ['a'], context: { screen: 'cart' }, empty: '' } },
  ]
  const rows = extras.map((extra, n) => feedbackRow({ ...atTime(ago(n)), extra }))
  await insert('feedback', rows)
  const { url } = await startReaderPage(t, { state: calmState })
  const { text } = await view(url, '/feedback')
  const [, chips = ''] = /<ul class="chips">(.*?CSV of these.*?)<\/ul>/s.exec(text) ?? []
  t.same(
    chips
      .split('<li>')
      .slice(4, -1)
      .map((chip) => chip.replaceAll(/<[^>]*>/g, '').trim()),
    ['plan pro 3', 'category it &#34;broke&#34; { 2', 'rating 4.5 2', 'source web 2'],
  )
  for (const [index, link] of linksIn(chips, '/feedback').slice(3, 7).entries()) {
    const limited = await view(url, link)
    t.match(limited.text, `>all ${[3, 2, 2, 2][index]}<`, link)
    const name = ['plan', 'category', 'rating', 'source'][index]
    t.notMatch(limited.text, new RegExp(`${name} <b>.*? \\d<`))
  }
})
