import t from 'tap'
import { limits } from '@intake/contract'
import { checkJson } from '../src/check-json.ts'
import { countedLaterBytes, parseJson } from '../src/parse-json.ts'

function parse(json: string, nodesMax = 1_000) {
  let charged = 0
  const { value, isPlain, entryNodes } = parseJson(Buffer.from(json), {
    nodesMax,
    charge: (bytes) => (charged += bytes),
  })
  return { value, isPlain, entryNodes, charged }
}

t.test('integers beyond the safe range stay exact, floats are doubles', async (t) => {
  const numbers = '[9007199254740991,9007199254740993,-9223372036854775808,18446744073709551615,-0]'
  t.same(parse(numbers).value, [
    9_007_199_254_740_991,
    9_007_199_254_740_993n,
    -(2n ** 63n),
    2n ** 64n - 1n,
    -0,
  ])
  t.same(parse('[1e300,0.1234567890123456789,9007199254740993.0,1]').value, [
    1e300,
    Number('0.1234567890123456789'),
    9_007_199_254_740_992,
    1,
  ])
})

t.test('a name with an escape is decoded', async (t) => {
  const cases: [string, object][] = [
    [String.raw`{"first":[],"\\":0}`, { first: [], '\\': 0 }],
    [String.raw`{"first":1,"\"":2}`, { first: 1, '"': 2 }],
    [String.raw`{"a":"\\\"" , "\u00e9"` + '\n:1}', { a: '\\"', é: 1 }],
    [String.raw`{"a":"\\","b":"\":"}`, { a: '\\', b: '":' }],
  ]
  for (const [json, expected] of cases) t.same(parse(json).value, expected)
})

t.test('the last of several members with the same name counts, for both parsers', async (t) => {
  for (const json of [
    '{"a":1,"b":2,"a":[3]}',
    String.raw`{"a":1,"b":2,"\u0061":[3]}`,
    '{"a":9007199254740993,"b":2,"a":[3]}',
  ]) {
    t.equal(JSON.stringify(parse(json).value), '{"a":[3],"b":2}')
  }
})

t.test('__proto__ is an ordinary name, for both parsers', async (t) => {
  for (const json of ['{"__proto__":{"a":1}}', String.raw`{"\u005f_proto__":{"a":1}}`]) {
    t.equal(JSON.stringify(parse(json).value), '{"__proto__":{"a":1}}')
  }
})

t.test('members and elements are limited and charged, in small and large documents', async (t) => {
  const blank = ' '.repeat(countedLaterBytes)
  for (const json of ['[1,{"a":[2,3]},{},"{[,\\""]', `[1,{"a":[2,3]},${blank}{},"{[,\\""]`]) {
    t.equal(parse(json, 8).charged, 8 * 160)
    t.throws(() => parse(json, 7), { code: 'body_too_large' })
  }
  const deep = `${'['.repeat(1_000)}${']'.repeat(1_000)}`
  t.throws(() => parse(deep, 999), { code: 'body_too_large' }, 'also beyond the maximum depth')
})

t.test('the members of a large document are counted before it is parsed', async (t) => {
  const json = `[${'{},'.repeat(100_000)} no JSON`
  t.throws(() => parse(json), { code: 'body_too_large' })
})

t.test('a large document with an integer beyond 2^53 is refused, not parsed slowly', async (t) => {
  const json = `["${'x'.repeat(limits.losslessJsonBytes)}",9007199254740993]`
  t.throws(() => parse(json), { code: 'body_too_large', message: /2\^53/ })
  t.equal((parse(json.replace('993', '99')).value as unknown[]).length, 2)
})

t.test('doubles beyond 2^53 and digits in a text are allowed in a large document', async (t) => {
  const text = 'x'.repeat(limits.losslessJsonBytes)
  const digits = '9007199254740993'
  for (const number of ['1e16', '-1E+16', `${digits}.0`, `${digits}e0`, '1e300', '12.5e20']) {
    const json = `["${text}\\"${digits}",{"${digits}":[${number},9007199254740991]}]`
    const [, value] = parse(json).value as [string, Record<string, number[]>]
    t.same(value[digits], [Number(number), 9_007_199_254_740_991])
  }
  for (const number of [`-${digits}`, '1'.repeat(500_000), `1.5,${digits}`, `${digits} `]) {
    const json = `["${text}\\\\",{"a":[1e16,${number}]}]`
    t.throws(() => parse(json), { code: 'body_too_large', message: /2\^53/ }, number.slice(0, 30))
  }
})

t.test('an integer beyond 64 bits is the double that it is, or that is printed so', async (t) => {
  for (const [digits, double] of [
    ['18446744073709551616', 2 ** 64],
    ['18446744073709552000', 2 ** 64],
    ['100000000000000000000', 1e20],
    ['-25000000000000000000', -2.5e19],
    ['-9223372036854778000', -9.223372036854778e18],
    ['123456789012345680000', 123_456_789_012_345_680_000],
    [`1${'0'.repeat(25)}`, 1e25],
    [BigInt(Number.MAX_VALUE).toString(), Number.MAX_VALUE],
    [`-17976931348623157${'0'.repeat(292)}`, -Number.MAX_VALUE],
  ] as const) {
    const { value } = parse(`{"n":[${digits}]}`)
    t.same(value, { n: [double] })
    t.doesNotThrow(() => checkJson(value), digits)
  }
})

t.test('an integer that no type holds is refused, without names of the client', async (t) => {
  for (const json of [
    '{"log":{"event":"e","params":{"SENT":{"n":18446744073709551617}}}}',
    '{"device":{"ram":-9223372036854775809}}',
    `{"logs":[1,{"params":{"n":1${'0'.repeat(100_000)}}}]}`,
    `{"log":{"params":{"n":${'9'.repeat(309)}}}}`,
    '{"SENT":1e3,"SENT2":[36893488147419103233]}',
  ]) {
    const { value } = parse(json)
    t.throws(() => checkJson(value, { pointer: '/payload' }), {
      code: 'invalid_request',
      errors: [{ pointer: '/payload' }],
    })
  }
})

t.test('the members and elements of a single record are limited', async (t) => {
  const list = Array.from({ length: limits.jsonNodes }, () => 0)
  t.doesNotThrow(() => checkJson(list))
  t.throws(() => checkJson({ list }), { code: 'body_too_large' })
})

t.test('a document that needs a closer look is not plain', async (t) => {
  for (const json of [
    '{"a":[1,"b",null],"c":[[1],[2]],"d":[{"e":[]},{"e":1}]}',
    '[9007199254740991,-1.5e15]',
    String.raw`{"a":"\u0061","b":"\ud55c"}`,
  ]) {
    t.ok(parse(json).isPlain, json)
  }
  for (const json of [
    '[9007199254740993]',
    '[1e300]',
    '[1e999]',
    String.raw`{"\u0061":1}`,
    String.raw`{"a":"\ud83d"}`,
    String.raw`["\uDE00"]`,
    '{"a":[1,{}]}',
    '{"a":[{"b":[[1],null]}]}',
    '[[[]],null]',
    '['.repeat(limits.jsonDepth + 1) + ']'.repeat(limits.jsonDepth + 1),
  ]) {
    t.notOk(parse(json).isPlain, json)
  }
})

t.test('the members and elements of the largest entry are known', async (t) => {
  t.equal(parse('{"a":1,"logs":[{"b":1},{"c":[1,2,{}],"d":3},4]}').entryNodes, 6)
  t.equal(parse('{"a":{"b":1}}').entryNodes, 0)
})

t.test('a fault of the parser itself is not reported as invalid JSON', async (t) => {
  const fault = new TypeError('a fault')
  t.intercept(JSON, 'parse', {
    value() {
      throw fault
    },
  })
  t.throws(() => parseJson(Buffer.from('{}'), { nodesMax: 10, charge: () => {} }), fault)
})
