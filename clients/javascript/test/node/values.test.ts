import t from 'tap'
import { createSandbox } from '@intake/sandbox'
import { createIntake } from '../../src/node/index.ts'

t.test('a value that is no JSON costs no event, and is stored as text', async (t) => {
  const sandbox = await createSandbox()
  t.teardown(() => sandbox.close())
  const { url, apiKey } = sandbox
  const client = createIntake({
    url,
    apiKey,
    bundleIdentifier: 'com.example.app',
    storage: 'memory',
  })
  const cyclic: Record<string, unknown> = { a: 1 }
  cyclic['self'] = cyclic
  const fails = () => {
    throw new Error('no')
  }
  client.log('bigint', { total: 5n })
  client.log('cyclic', { target: cyclic })
  client.log('error', { error: new TypeError('outer', { cause: new Error('inner') }) })
  client.log('itself', new TypeError('outer'))
  client.log('collections', {
    map: new Map([['a', 1]]),
    set: new Set([1]),
    headers: new Headers({ a: 'b' }),
    url: new URL('http://a.example/'),
    bytes: new Uint8Array(3),
  })
  client.log('others', { symbol: Symbol('s'), nan: NaN, json: { toJSON: fails }, kept: 1 })
  t.same(await client.flush(), { left: 0 })
  t.same(client.stats().dropped, {})
  const stored = sandbox.records().map(({ event, params }) => [event, params])
  t.match(Object.fromEntries(stored), {
    bigint: { total: '5' },
    cyclic: { target: { a: 1, self: '[Circular]' } },
    error: {
      error: {
        name: 'TypeError',
        message: 'outer',
        stack: /values\.test/,
        cause: { name: 'Error', message: 'inner', stack: /values\.test/ },
      },
    },
    itself: { name: 'TypeError', message: 'outer' },
    collections: {
      map: { a: 1 },
      set: [1],
      headers: { a: 'b' },
      url: 'http://a.example/',
      bytes: [0, 0, 0],
    },
    others: { symbol: 'Symbol(s)', nan: 'NaN', json: 'no', kept: 1 },
  })
  await client.shutdown()
})
