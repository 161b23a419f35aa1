import t from 'tap'
import { findMap } from '../src/import/maps.ts'

t.test('a call of Segment keeps what it has, and only that', async (t) => {
  const { read } = await findMap('segment', JSON.parse)
  const call = { messageId: 'one', timestamp: '2026-11-01T10:00:00Z', anonymousId: 'a' }
  for (const [own, event, params] of [
    [{ type: null, event: 'open', properties: { n: 1 } }, 'open', { n: 1 }],
    [{ type: 'page', name: 'Home', properties: { url: '/' } }, 'page', { name: 'Home', url: '/' }],
    [{ type: 'page', name: null, properties: '{"url":"/"}' }, 'page', {}],
    [{ type: 'screen', properties: null }, 'screen', {}],
  ] as const) {
    t.match(read({ ...call, ...own }), { event })
    t.strictSame(read({ ...call, ...own }).params, params)
  }
  t.throws(() => read({ ...call, type: 'identify' }), /neither track, screen nor page/)
})
