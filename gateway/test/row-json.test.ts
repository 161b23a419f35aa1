import t from 'tap'
import { rowJson } from '../src/row-json.ts'

t.test('a usual row is printed as JSON.stringify prints it', async (t) => {
  const row = { a: 'text 😀 \\ud83d', b: [1, 2.5, null], c: { d: true } }
  t.equal(rowJson(row), JSON.stringify(row))
})

t.test('half a surrogate pair becomes U+FFFD, in values and in names', async (t) => {
  const row = { a: 'cut \ud83d', '\udc00': { b: ['\udfff😀'] } }
  t.equal(rowJson(row), '{"a":"cut \ufffd","\ufffd":{"b":["\ufffd😀"]}}')
})

t.test(
  'integers beyond 64 bits are printed with an exponent, and are the same number',
  async (t) => {
    const numbers = [2 ** 63, -(2 ** 63), 2 ** 64, 123_456_789_012_345_680_000, -999e18]
    const json = rowJson({ numbers, text: '12345678901234567890', small: 2 ** 53 })
    t.match(json, '9.223372036854776e+18')
    t.notMatch(json.replace('"12345678901234567890"', ''), /\d{20}/)
    t.same(JSON.parse(json), { numbers, text: '12345678901234567890', small: 2 ** 53 })
  },
)
