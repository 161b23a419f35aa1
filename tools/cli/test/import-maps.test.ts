import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDataDir } from '@intake/test-kit/data-dir'
import t from 'tap'
import { findMap } from '../src/import/maps.ts'

/** Returns a reader of single rows: of objects as JSON, or of CSV. */
async function reader(name: string) {
  const { read } = await findMap(name)
  const row = { line: 1, text: '', header: [], cells: [], share: 1 }
  return {
    json: (event: object) => read({ ...row, text: JSON.stringify(event) }),
    csv: (header: string[], ...cells: string[]) => read({ ...row, header, cells }),
  }
}

t.test('a call of Segment keeps what it has, and only that', async (t) => {
  const { json: read } = await reader('segment')
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

t.test('a number of CSV keeps its digits, or is rejected', async (t) => {
  const path = join(createDataDir(t), 'map.json')
  const map = { event: '=order', time: 'at', user: '=one', params: { total: 'total:number' } }
  writeFileSync(path, JSON.stringify(map))
  const { csv } = await reader(`csv:${path}`)
  const total = (text: string) => csv(['at', 'total'], '2026-11-01T10:00:00Z', text).params['total']
  for (const [text, number] of [
    ['9007199254740993', 9_007_199_254_740_993n],
    [' -9223372036854775808 ', -(2n ** 63n)],
    ['9007199254740991', 9_007_199_254_740_991],
    ['1e20', 1e20],
    ['1.50', 1.5],
    ['-12', -12],
  ] as const) {
    t.equal(total(text), number)
  }
  for (const text of ['1,5', ' ', 'Infinity', 'abc', '007']) {
    t.throws(() => total(text), /total is no number/)
  }
  t.throws(() => csv(['at'], '2026-11-01', '1'), /more cells than the header/)
  t.match(csv(['at', 'total'], '2026-11-01', '1', '', ' '), { params: { total: 1 } })
})

t.test('a column is one that the file has once', async (t) => {
  const path = join(createDataDir(t), 'map.json')
  const params = '{"__proto__":"__proto__"}'
  writeFileSync(path, `{"event":"constructor","time":"at","user":"=one","params":${params}}`)
  const { csv } = await reader(`csv:${path}`)
  const header = ['at', '__proto__']
  const missing = { name: 'UsageError', message: /no column constructor\. .* has: at, __proto__$/ }
  t.throws(() => csv(header), missing)
  const several = /Several columns are named constructor/
  t.throws(() => csv([...header, 'constructor', 'constructor']), several)
  const { event, params: built } = csv([...header, 'constructor'], '2026-11-01', 'own', 'built')
  t.strictSame([event, Object.entries(built)], ['built', [['__proto__', 'own']]])
})

t.test('spaces around a column belong neither to its name nor to the map', async (t) => {
  const path = join(createDataDir(t), 'map.json')
  writeFileSync(path, '{"event":"=order","time":" at","user":"=one","params":{"n":"n :number"}}')
  const { csv } = await reader(`csv:${path}`)
  t.match(csv(['at', 'n'], ' 2026-11-01', ' 1'), {
    timeMs: Date.UTC(2026, 10, 1),
    params: { n: 1 },
  })
})

t.test('a map may begin with a byte order mark', async (t) => {
  const path = join(createDataDir(t), 'map.json')
  writeFileSync(path, '\uFEFF{"event":"=order","time":"at","user":"=one"}')
  const { csv } = await reader(`csv:${path}`)
  t.match(csv(['at'], '2026-11-01'), { event: 'order' })
})

t.test('a day that the calendar does not have is no time', async (t) => {
  const { json: read } = await reader('segment')
  const at = (timestamp: string) => read({ event: 'a', userId: 'u', timestamp }).timeMs
  t.equal(at('2028-02-29 10:00:00.123456'), Date.UTC(2028, 1, 29, 10, 0, 0, 123))
  t.equal(at('2026-02-28T23:30-0545'), Date.UTC(2026, 2, 1, 5, 15))
  t.equal(at('2026-02-28'), Date.UTC(2026, 1, 28))
  t.equal(at('2026-02-28 10:00:00.5+01'), Date.UTC(2026, 1, 28, 9, 0, 0, 500))
  for (const day of ['2026-02-30', '2026-02-29T10:00:00Z', '2026-04-31 10:00', '2026-13-01']) {
    t.throws(() => at(day), /its time is not ISO 8601/, day)
  }
})
