import t from 'tap'
import { rowJson } from '../src/row-json.ts'

t.test('an ordinary row is printed like JSON.stringify does', async (t) => {
  const row = { a: 'text 😀 \\ud83d', b: [1, 2.5, null], c: { d: true } }
  t.equal(rowJson(row), JSON.stringify(row))
})

t.test('a lone surrogate becomes U+FFFD, in values and in names', async (t) => {
  const row = { a: 'cut \ud83d', '\udc00': { b: ['\udfff😀'] } }
  t.equal(rowJson(row), '{"a":"cut \ufffd","\ufffd":{"b":["\ufffd😀"]}}')
})

t.test(
  'doubles beyond the safe integers are printed with an exponent and keep their value',
  async (t) => {
    const numbers = [2 ** 53, 2 ** 63, -(2 ** 63), 2 ** 64, 123_456_789_012_345_680_000, -999e18]
    const json = rowJson({ numbers, text: '12345678901234567890', small: 2 ** 53 - 1 })
    t.match(json, '9.223372036854776e+18')
    t.notMatch(json.replace('"12345678901234567890"', ''), /\d{17}/)
    t.same(JSON.parse(json), { numbers, text: '12345678901234567890', small: 2 ** 53 - 1 })
  },
)

t.test('integers of 64 bits are printed with all their digits', async (t) => {
  const row = { a: 2n ** 64n - 1n, b: [-(2n ** 63n)], c: { d: 9_007_199_254_740_993n, e: 'n' } }
  const printed = '{"a":18446744073709551615,"b":[-9223372036854775808],'
  t.equal(rowJson(row), `${printed}"c":{"d":9007199254740993,"e":"n"}}`)
})

t.test('an array that mixes objects with other values becomes its JSON as a text', async (t) => {
  const mixed: unknown[] = [
    [1, { a: 1 }],
    [{ a: 1 }, null, 'x'],
    [[1], { a: 1 }],
    [{ a: 1 }, [{ a: 1 }]],
    [[1], [{ a: 1 }]],
    [[[{ a: [1, { b: 2 }] }], []]],
    [{ a: 2n ** 63n }, 1e300, '\ud83d', 'text'],
  ]
  for (const array of mixed) {
    const row = JSON.parse(rowJson({ v: array, w: [{ deep: array }] })) as { v: string; w: object }
    t.type(row.v, 'string')
    t.same(row.w, [{ deep: row.v }])
  }
  const text = '[{"a":9223372036854775808},1e+300,"\ufffd","text"]'
  t.equal(rowJson({ v: mixed.at(-1) }), JSON.stringify({ v: text }))
})

t.test('an array whose numbers or nulls ClickHouse would change becomes its JSON', async (t) => {
  const large = 9_007_199_254_740_993n
  for (const [array, text] of [
    [[large, 1.5], '[9007199254740993,1.5]'],
    [[1e20, large], '[1e+20,9007199254740993]'],
    [[1, null, large, 1e300], '[1,null,9007199254740993,1e+300]'],
    [[[large], [], [0.5]], '[[9007199254740993],[],[0.5]]'],
    [['x', [large, 0.5]], '["x",[9007199254740993,0.5]]'],
    [[[-5, 1], [2n ** 63n]], '[[-5,1],[9223372036854775808]]'],
    [[[1], null], '[[1],null]'],
    [[[], null], '[[],null]'],
    [[[null], [[]]], '[[null],[[]]]'],
    [[[null, [1]], ['x']], '[[null,[1]],["x"]]'],
    [[[{ a: 1 }], null], '[[{"a":1}],null]'],
  ] as const) {
    t.equal(rowJson({ v: [{ inner: array }] }), JSON.stringify({ v: [{ inner: text }] }))
  }
})

t.test('other arrays stay arrays', async (t) => {
  const row = {
    a: [1, 'x', null, true, 1.5],
    b: [[1], ['x'], 2, []],
    c: [{ a: 1 }, null, { b: [1, [2]] }, {}],
    d: [[{ a: 1 }], [{ b: 1 }, null]],
    e: [],
    f: ['x', null, [1]],
    g: [[null], [1, null]],
  }
  t.equal(rowJson(row), JSON.stringify(row))
  const large = 9_007_199_254_740_993n
  for (const [array, json] of [
    [[large, 1, null], '[9007199254740993,1,null]'],
    [[large, 'a', 1.5], '[9007199254740993,"a",1.5]'],
    [[large, [1.5]], '[9007199254740993,[1.5]]'],
    [[{ a: large }, { a: 1.5 }], '[{"a":9007199254740993},{"a":1.5}]'],
    [[[large, true], [0.5]], '[[9007199254740993,true],[0.5]]'],
    [[2n ** 63n, -1], '[9223372036854775808,-1]'],
  ] as const) {
    t.equal(rowJson({ array }), `{"array":${json}}`)
  }
})
