import multipart from '@fastify/multipart'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { compileSchema, FeedbackPayload } from '@intake/contract/schemas'
import { createByteBudget, createShares } from '../../src/body/byte-budget.ts'
import { multipartOptions, readFeedbackForm } from '../../src/form/feedback-form.ts'
import { createTurns } from '@intake/http-edge'
import { feedbackPayload } from '../support.ts'

/** Starts a server that responds with the text parts of a form. */
async function startForms(t: Test) {
  const app = fastify()
  t.teardown(() => app.close())
  const budget = createByteBudget({ bytesMax: 64 * 1024 * 1024, requests: createShares(100) })
  app.addHook('onRequest', async (request) => {
    const bodyLease = budget.lease({ account: 'key_1', expectedBytes: 0 })
    Object.assign(request, { apiKey: { id: 'key_1' }, bodyLease })
  })
  await app.register(multipart, multipartOptions(10_000_000))
  const validate = compileSchema(FeedbackPayload)
  const options = {
    validate,
    turns: createTurns(),
    attachments: {
      bytesMax: 1_000_000,
      formBytesMax: Infinity,
      pixelsMax: 1_000_000,
      keepsMetadata: false,
    },
    bytesMax: Infinity,
  }
  app.route({
    method: 'POST',
    url: '/',
    handler: async (request) => {
      const { fields, omitted } = await readFeedbackForm(request, options)
      return { fields, omitted }
    },
  })
  return async (contentType: string, body: string | Buffer) =>
    app.inject({
      method: 'POST',
      url: '/',
      headers: { 'content-type': contentType },
      payload: body,
    })
}

const part = (name: string, text: string) =>
  `content-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
const payload = part('payload', JSON.stringify(feedbackPayload()))

t.test('text parts other than the payload are kept by name, repeated ones as a list', async (t) => {
  const send = await startForms(t)
  const parts = [part('a', 'one'), payload, part('b', ''), part('a', 'zwö'), part('a', '3')]
  const response = await send(
    'multipart/form-data; boundary=x',
    `--x\r\n${parts.join('--x\r\n')}--x--\r\n`,
  )
  t.same(response.json(), { fields: { a: ['one', 'zwö', '3'], b: '' } })
})

t.test('invalid UTF-8 in a text part becomes U+FFFD', async (t) => {
  const send = await startForms(t)
  const body = Buffer.from(`--x\r\n${payload}--x\r\n${part('a', 'zwö')}--x--\r\n`, 'latin1')
  const response = await send('multipart/form-data; boundary=x', body)
  t.same(response.json(), { fields: { a: 'zw\ufffd' } })
})

t.test('text parts beyond the limits are skipped and counted; the others are kept', async (t) => {
  const send = await startForms(t)
  const half = 'h'.repeat(600_000)
  const many = Array.from({ length: 35 }, (_, n) => [`n${n}`, 'abc'] as const)
  const largest = 'l'.repeat(1024 * 1024 - payload.length - 100)
  const name = 'n'.repeat(10_000)
  const cases: [(readonly [string, string])[], string[], object | undefined][] = [
    [many, many.slice(0, 32).map(([one]) => one), { parts: 3, bytes: 9 }],
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
    [[['largest', largest]], ['largest'], undefined],
    [[['larger', 'l'.repeat(1024 * 1024)]], [], { parts: 1, bytes: 1024 * 1024 }],
    [[[name, 'x']], [name], undefined],
  ]
  for (const [texts, kept, omitted] of cases) {
    const parts = texts.map(([one, text]) => part(one, text))
    for (const form of [
      [payload, ...parts],
      [...parts, payload],
    ]) {
      const response = await send(
        'multipart/form-data; boundary=x',
        `--x\r\n${form.join('--x\r\n')}--x--\r\n`,
      )
      t.same(Object.keys(response.json().fields), kept)
      t.same(response.json().omitted, omitted)
    }
  }
})

t.test('boundaries as clients write them, text before the first and after the last', async (t) => {
  const send = await startForms(t)
  for (const [boundary, written] of [
    ['----WebKitFormBoundaryAbC123', '----WebKitFormBoundaryAbC123'],
    ["a'()+_,-./:=? b", `"a'()+_,-./:=? b"`],
    ['==12=', '"==12="; charset=utf-8'],
    ['6f9619ff-8b86', '6f9619ff-8b86; charset="utf-8"'],
    ['x', 'x;'],
  ] as const) {
    const line = `--${boundary}`
    const form = `${line}\r\n${payload}${line}\r\n${part('a', `\r\n-${line}`)}${line}--`
    for (const body of [
      form,
      `before\r\n${form}`,
      `\r\n${form}`,
      `${form} \t\r\n`,
      `${form}\r\nbehind\r\n${line}\r\n`,
    ]) {
      const response = await send(`multipart/form-data; boundary=${written}`, body)
      t.same(response.json(), { fields: { a: `\r\n-${line}` } }, written)
    }
  }
})

t.test('headers of parts as clients write them', async (t) => {
  const send = await startForms(t)
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
    const body = `--x\r\n${payload}--x\r\n${header}\r\n\r\ntext\r\n--x--\r\n`
    const response = await send('multipart/form-data; boundary=x', body)
    t.same(response.json(), { fields: { a: 'text' } }, header)
  }
})
