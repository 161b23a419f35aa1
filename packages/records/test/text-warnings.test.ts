import t from 'tap'
import { startServer } from '../../schema/test/fixture.ts'
import { textWarnings } from '../src/counts/text-warnings.ts'

const { connect } = await startServer(t)
const owner = connect(t)

const card = '4111 1111 1111 1111'
const documents: [params: object, warnings: string[][]][] = [
  [{ a: 'plain', b: 1.5, c: [1, 2], d: true, e: null, f: {}, g: [], at: 1764000000000 }, []],
  [{ text: 'to ann@example.com' }, [['email', 'text']]],
  [{ list: ['x', 'ann@example.com'] }, [['email', 'list']]],
  [{ list: [{ to: 'ann@example.com' }] }, [['email', 'list']]],
  [{ list: [1, 'x', ['ann@example.com']] }, [['email', 'list']]],
  [{ one: { two: { 'ann@example.com': 1 } } }, [['email', 'one.two']]],
  [{ 'ann@example.com': 1 }, []],
  [
    { 'a.b': { 'c.d': 'ann@example.com' }, 'e.f': 'ann@example.com' },
    [
      ['email', 'a%2Eb.c%2Ed'],
      ['email', 'e%2Ef'],
    ],
  ],
  [
    { text: card, one: { two: card } },
    [
      ['card', 'one.two'],
      ['card', 'text'],
    ],
  ],
  [{ number: 4111111111111111 }, [['card', 'number']]],
  [{ list: [4111111111111111] }, [['card', 'list']]],
  [{ list: [{ number: 4111111111111111 }] }, [['card', 'list']]],
  [{ one: { two: { '4111111111111111': { three: 1 } } } }, [['card', 'one.two']]],
  [{ text: `a\u001f4111111111111111\u0001` }, [['card', 'text']]],
  [{ text: `a.4111111111111111`, fraction: 0.4111111111111111 }, []],
  [
    { text: '[1,"a"]', one: { two: '[]' }, list: ['[1]'] },
    [
      ['array_as_text', 'one.two'],
      ['array_as_text', 'text'],
    ],
  ],
  [{ text: '[see below]', other: '[1] and more' }, []],
  [
    Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, n === 29 ? card : n])),
    [['card', 'p29']],
  ],
]

for (const hasAllValues of [true, false]) {
  t.test(`warnings of texts, ${hasAllValues ? 'with' : 'without'} JSONAllValues`, async (t) => {
    for (const [params, warnings] of documents) {
      const [row] = await owner.query<{ found: string[][] }>(
        `SELECT arraySort(arrayMap(one -> [one.1, one.2], ${textWarnings(hasAllValues)})) AS found
         FROM (SELECT {json:String}::JSON(max_dynamic_paths = 16) AS params)`,
        { json: JSON.stringify(params) },
      )
      t.same(row?.found, warnings, JSON.stringify(params))
    }
  })
}
