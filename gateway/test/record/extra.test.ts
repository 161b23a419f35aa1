import t from 'tap'
import { createExtraPrinter } from '../../src/record/extra.ts'

t.test('unknown fields of submission and record are printed at their path', async (t) => {
  const cases: [object | undefined, object | undefined, string | undefined][] = [
    [undefined, undefined, undefined],
    [undefined, { a: 1 }, '{"log":{"a":1}}'],
    [{ b: [2], c: null }, undefined, '{"b":[2],"c":null}'],
    [{ b: 2 }, { a: 1 }, '{"b":2,"log":{"a":1}}'],
    [{ log: 'x' }, undefined, '{"log":"x"}'],
    [{ log: 'x', b: 2 }, { a: 1 }, '{"b":2,"log":"[\\"x\\",{\\"a\\":1}]"}'],
    [{ n: 2n ** 63n, '\ud83d': '\ud83d' }, { a: 2n ** 62n }, undefined],
    [JSON.parse('{"__proto__":1}') as object, undefined, '{"__proto__":1}'],
  ]
  for (const [submission, inRecord, expected] of cases) {
    const printed = createExtraPrinter(
      submission as Record<string, unknown>,
      'log',
    )(inRecord as Record<string, unknown>)
    const special = '{"n":9223372036854775808,"\ufffd":"\ufffd","log":{"a":4611686018427387904}}'
    t.equal(printed, submission && 'n' in submission ? special : expected)
  }
})
