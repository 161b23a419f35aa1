import t from 'tap'
import { logRow, uuidV7 } from '../../../packages/schema/test/fixture.ts'
import { ago, startRowStore, view } from './fixture.ts'

const { insert, startReaderPage } = await startRowStore(t)
const id = uuidV7(ago(100))
const device = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'
const beyond = 'ffffffff-ffff-7fff-8fff-ffffffffffff'

const times = ['1970-01-01', '9999-12-31', '2106-02-08', '2020-01-01']
const numbers = ['', '-1', '1e308', '9007199254740991', '8640000000000000', 'NaN']
const texts = ['\0', '\ud800', "'\\", '{x:String}', '..']
const query = (name: string, values: readonly string[]) =>
  values.map((value) => new URLSearchParams({ [name]: value }).toString())
const periods = [
  ...times.flatMap((from) => times.map((to) => `from=${from}&to=${to}`)),
  ...query('from', times),
  ...query('to', times),
]
const cursors = query('after', [...numbers, `${beyond}.${device}.x`, `${id}.${device}.\0`])
const queries = {
  '/': [...query('period', ['1h', ...texts])],
  '/live': [...periods.slice(0, 4), ...query('event', texts)],
  '/live/rows': [...query('since', numbers), ...query('app', texts)],
  '/events': [
    ...periods,
    ...cursors,
    ...query('version', texts),
    ...query('filter', texts),
    ...query('tz', texts),
    ...texts.map((name) => new URLSearchParams({ [`params.${name}`]: 'x' }).toString()),
    ...query('params.a..b', texts),
    ...query('params.`a`.:String', texts),
    ...query('key', texts),
    ...query('period', ['1h', '30d']),
  ],
  '/feedback': [...periods, ...cursors, ...query('text', texts), ...query('has', texts)],
  '/dead-letters': query('page', numbers),
  '/search': query('q', [beyond, id, ...texts]),
  [`/events/${id}`]: [...query('device', texts), ...query('application', texts)],
  '/help/%00': [''],
  '/applications/%00': query('tab', ['', 'catalogue']),
}

t.test('no query string is a fault of the page', async (t) => {
  await insert('logs', [logRow({ id, time: ago(100), received_at: ago(99) })])
  let failed = 0
  const { url, lines } = await startReaderPage(t, { onFailed: () => void failed++ })
  const found: string[] = []
  for (const [path, own] of Object.entries(queries)) {
    for (const one of own) {
      const { status } = await view(url, `${path}?${one}`)
      if (status >= 500) found.push(`${status} ${path}?${one}`)
    }
  }
  t.same(found, [])
  t.equal(failed, 0)
  t.same(lines, [])
})
