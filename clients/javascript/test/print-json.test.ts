import t from 'tap'
import { jsonDepthMax } from '../src/core/limits.ts'
import { printJson } from '../src/core/print-json.ts'

const printed = (value: unknown): unknown => JSON.parse(printJson(value))

const fails = () => {
  throw new Error('no')
}

t.test('a value that JSON can represent is printed as JSON.stringify prints it', async (t) => {
  const shared = { a: 1 }
  for (const value of [
    { text: 'ü😀\n\u2028', none: null, absent: undefined, yes: true, number: -1.5e300, zero: 0 },
    { list: [1, undefined, [], {}, [[null]]], twice: [shared, shared], date: new Date(0) },
    { url: new URL('http://a.example/'), own: { toJSON: () => ({ kept: 1 }) } },
    JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
    Object.assign(Object.create(null), { a: 1 }),
    new (class Cart {
      items = 3
    })(),
    { text: new String('text'), number: new Number(5), yes: new Boolean(true) },
    [1],
    'text',
  ])
    t.equal(printJson(value), JSON.stringify(value))
})

t.test('a value that JSON cannot represent is text', async (t) => {
  const cyclic: Record<string, unknown> = { a: 1 }
  cyclic['self'] = cyclic
  const list: unknown[] = []
  list.push(list)
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const values = {
    total: 12345678901234567890n,
    cyclic,
    list,
    named: function named() {},
    symbol: Symbol('s'),
    nan: Number.NaN,
    infinite: -Infinity,
    date: new Date(Number.NaN),
    getter: Object.defineProperty({ kept: 1 }, 'x', { enumerable: true, get: fails }),
    json: { toJSON: fails },
    thrown: {
      toJSON() {
        throw 'a text'
      },
    },
    regExp: /x/g,
    buffer: new ArrayBuffer(1),
    number: Object(5),
    node: { nodeType: 1, fiber: {}, toString: () => '[object HTMLDivElement]' },
    iterator: [1].values(),
    kept: 1,
  }
  t.same(printed({ ...values, proxy }), {
    total: '12345678901234567890',
    cyclic: { a: 1, self: '[Circular]' },
    list: ['[Circular]'],
    named: String(values.named),
    symbol: 'Symbol(s)',
    nan: 'NaN',
    infinite: '-Infinity',
    date: 'Invalid time value',
    getter: { kept: 1, x: 'no' },
    json: 'no',
    thrown: 'a text',
    regExp: '/x/g',
    buffer: '[object ArrayBuffer]',
    number: '5',
    node: '[object HTMLDivElement]',
    iterator: '[object Array Iterator]',
    kept: 1,
    proxy: "Cannot perform 'get' on a proxy that has been revoked",
  })
  t.equal(values.iterator.next().value, 1, 'an iterator is not consumed')
})

t.test('errors, collections and bytes keep what they have', async (t) => {
  const error = Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'E' })
  t.match(printed(error), {
    name: 'TypeError',
    message: 'outer',
    stack: /^TypeError: outer\n {4}at /,
    cause: { name: 'Error', message: 'inner' },
    code: 'E',
  })
  t.match(printed(new AggregateError([new Error('one')])), { errors: [{ message: 'one' }] })
  t.match(printed(new DOMException('gone', 'AbortError')), { name: 'AbortError', message: 'gone' })
  const map = new Map<unknown, unknown>([
    ['a', new Set([1n])],
    [2, null],
  ])
  t.same(printed(map), { a: ['1'], 2: null })
  map.set('self', map)
  t.match(printed(map), { self: '[Circular]' })
  t.same(printed(new Headers({ a: 'b' })), { a: 'b' })
  t.same(printed(new URLSearchParams('a=1')), { a: '1' })
  t.same(printed(new Uint8Array([1, 255])), [1, 255])
  t.same(printed(new BigInt64Array(1)), ['0'])
})

t.test('what is nested too deeply for the gateway is text', async (t) => {
  let nested: unknown = 1
  for (let depth = 0; depth < 50_000; depth++) nested = [nested]
  const text = printJson(nested)
  t.match(text, /^\[+"\[Too deep\]"\]+$/)
  t.equal(text.indexOf('"'), jsonDepthMax + 1)
})

t.test('a graph with more paths than can be walked is cut', async (t) => {
  const nodes = Array.from({ length: 100 }, (): Record<string, unknown> => ({}))
  for (const node of nodes) for (const [name, other] of nodes.entries()) node[name] = other
  t.match(printJson(nodes[0]), /Too deep/)
})
