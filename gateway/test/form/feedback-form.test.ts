import t from 'tap'
import { limits } from '@intake/contract'
import { payload, payloadPart, send, sendText, textPart, type Part } from '../forms.ts'
import { startGateway, type TestGateway } from '../support.ts'

interface Extra {
  form?: Record<string, unknown>
  form_omitted?: object
}
const extraOf = (gateway: TestGateway) =>
  (gateway.rows('feedback').at(-1)?.['extra'] ?? {}) as Extra

/** Sends a form, and returns the text parts that are stored. */
async function storedOf(gateway: TestGateway, body: string | Buffer, type?: string) {
  gateway.frames.feedback.length = 0
  const response = await sendText(gateway, body, type)
  return response.statusCode === 201 ? extraOf(gateway).form : response.json<object>()
}

t.test('text parts other than the payload are kept by name, repeated ones as a list', async (t) => {
  const gateway = await startGateway(t)
  const texts = [textPart('b', ''), textPart('a', 'zwö'), textPart('a', '3')]
  const parts = [textPart('a', 'one'), payloadPart, ...texts]
  const stored = await storedOf(gateway, `--x\r\n${parts.join('--x\r\n')}--x--\r\n`)
  t.same(stored, { a: ['one', 'zwö', '3'], b: '' })
})

t.test('invalid UTF-8 in a text part becomes U+FFFD', async (t) => {
  const gateway = await startGateway(t)
  const body = `--x\r\n${payloadPart}--x\r\n${textPart('a', 'zwö')}--x--\r\n`
  t.same(await storedOf(gateway, Buffer.from(body, 'latin1')), { a: 'zw\ufffd' })
})

t.test('201: text parts beyond the limits are counted, the others are kept', async (t) => {
  const gateway = await startGateway(t)
  const half = 'h'.repeat(600_000)
  const many = Array.from({ length: 35 }, (_, n): Part => [`n${n}`, 'abc'])
  const names = many.map(([name]) => name)
  const room = limits.payloadBytes - payload()[1].length - 'a'.length
  const cases: [parts: Part[], kept: string[], omitted?: object][] = [
    [many, names.slice(0, 32), { parts: 3, bytes: 9 }],
    [
      [
        ['one', half],
        ['two', half],
        ['three', 'short'],
      ],
      ['one', 'three'],
      { parts: 1, bytes: 600_000 },
    ],
    [[['huge', half.repeat(5)]], [], { parts: 1, bytes: 3_000_000 }],
    [[['a', 'l'.repeat(room)]], ['a']],
    [[['a', 'l'.repeat(room + 1)]], [], { parts: 1, bytes: room + 1 }],
    [[['n'.repeat(10_000), 'x']], ['n'.repeat(10_000)]],
  ]
  for (const [texts, kept, omitted] of cases) {
    for (const parts of [
      [payload(), ...texts],
      [...texts, payload()],
    ]) {
      const { status, body } = await send(gateway, parts)
      t.equal(status, 201)
      const { form = {}, form_omitted } = extraOf(gateway)
      t.same(Object.keys(form), kept)
      t.same([form_omitted, body.omitted_text_parts], [omitted, omitted])
    }
  }
})

t.test('boundaries as clients write them, text before the first and after the last', async (t) => {
  const gateway = await startGateway(t)
  for (const [boundary, written] of [
    ['----WebKitFormBoundaryAbC123', '----WebKitFormBoundaryAbC123'],
    ["a'()+_,-./:=? b", `"a'()+_,-./:=? b"`],
    ['==12=', '"==12="; charset=utf-8'],
    ['6f9619ff-8b86', '6f9619ff-8b86; charset="utf-8"'],
    ['x', 'x;'],
  ] as const) {
    const line = `--${boundary}`
    const form = `${line}\r\n${payloadPart}${line}\r\n${textPart('a', `\r\n-${line}`)}${line}--`
    for (const body of [
      form,
      `before\r\n${form}`,
      `\r\n${form}`,
      `${form} \t\r\n`,
      `${form}\r\nbehind\r\n${line}\r\n`,
    ]) {
      const stored = await storedOf(gateway, body, `multipart/form-data; boundary=${written}`)
      t.same(stored, { a: `\r\n-${line}` }, written)
    }
  }
})

t.test('headers of parts as clients write them', async (t) => {
  const gateway = await startGateway(t)
  for (const header of [
    'CONTENT-DISPOSITION: FORM-DATA; NAME="a"',
    'Content-Disposition:form-data;name="a"',
    'content-disposition: form-data; name=a',
    'content-disposition: form-data;\r\n name="a"',
    'content-disposition: form-data; name="a"\r\ncontent-type: text/plain;\r\n\tcharset=utf8',
    'content-type: text/plain\r\ncontent-disposition: form-data; name="a"',
    'content-disposition: form-data; name="a";',
    'content-transfer-encoding: binary\r\ncontent-disposition: form-data; name="a"',
  ]) {
    const body = `--x\r\n${payloadPart}--x\r\n${header}\r\n\r\ntext\r\n--x--\r\n`
    t.same(await storedOf(gateway, body), { a: 'text' }, header)
  }
})
