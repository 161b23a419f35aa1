import { Hash } from 'node:crypto'
import t from 'tap'
import { limits } from '@intake/contract'
import { feedbackPayload, images, startGateway } from '../support.ts'
import { copies } from '../batches.ts'
import {
  file,
  lenient,
  payload,
  payloadPart,
  refusal,
  send,
  sendText,
  textPart,
  type Part,
} from '../forms.ts'

const png = file(images.png)
const note: Part = ['n', 'x']
const named: Part = ['image', images.png, 'a.png']
const other: Part = ['SENT', 'text', 'SENT.txt', 'text/plain']
const latin1 = Buffer.from(JSON.stringify(feedbackPayload({ text: 'é' })), 'latin1')

/** What is refused: the code, and the forms with the pointer of the first error, or the detail. */
const refusals: [title: string, code: string, forms: [parts: Part[], details?: string][]][] = [
  [
    '400 for a payload that is missing, a file, sent twice, or invalid',
    'invalid_request',
    [
      [[], '/payload'],
      [[['payload', '{}', 'payload.json', 'application/json']], '/payload'],
      [[payload(), payload()], '/payload'],
      [[payload({ text: '' })], '/payload/feedback/text'],
      [[payload({ text: 'x'.repeat(20_001) })], '/payload/feedback/text'],
      [[payload({ email: 'nobody' })], '/payload/feedback/email'],
      [[payload({ id: '1' })], '/payload/feedback/id'],
      [[payload({}, { device_uuid: 'x' })], '/payload/device_uuid'],
      [[payload(), ['attachments', 'text, not a file']], '/attachments'],
    ],
  ],
  [
    '400 for a payload that is not JSON',
    'invalid_json',
    [[[['payload', '{']]], [[['payload', '']], 'The payload is empty.']],
  ],
  [
    '400 for a payload that is not UTF-8',
    'invalid_encoding',
    [[[['payload', latin1, undefined, 'text/plain; charset=utf-8']]]],
  ],
  [
    '413 for a fifth attachment, of any name',
    'too_many_attachments',
    [
      [[payload(), ...copies(4, png)], '/attachments/4'],
      [[payload(), ...copies(39, png)], '/attachments/4'],
      [[payload(), ...copies(4, named)], '/attachments/4'],
    ],
  ],
  [
    '413 for an attachment over 10 MiB',
    'attachment_too_large',
    [[[payload(), file(Buffer.alloc(10 * 1024 * 1024 + 1))], '/attachments/1']],
  ],
  [
    '413 for a payload over 1 MiB, or more parts than a form may have',
    'body_too_large',
    [
      [[['payload', 'x'.repeat(limits.payloadBytes + 1)]], '/payload'],
      [[payload(), ...copies(limits.formParts, note)]],
      [copies(3_000, png)],
    ],
  ],
  [
    '415 for a file that is not an image by its bytes, of any name',
    'attachment_not_an_image',
    [
      ...['plain text', '', '<svg xmlns="http://www.w3.org/2000/svg"/>', '%PDF-1.7\n'].map(
        (bytes): [Part[], string] => [[payload(), file(bytes)], '/attachments/1'],
      ),
      [[payload(), other], '/attachments/1'],
    ],
  ],
]

for (const [title, code, forms] of refusals) {
  t.test(title, async (t) => {
    const gateway = await startGateway(t)
    for (const [parts, details] of forms) {
      const { status, body } = await send(gateway, [png, ...parts])
      t.same([status, body.code], [Number(title.slice(0, 3)), code])
      const given = [body.errors?.[0]?.pointer, body.detail]
      if (details !== undefined) t.ok(given.includes(details), `${given.join()}, not ${details}`)
      t.notMatch(JSON.stringify(body), 'SENT')
    }
    t.same([gateway.frames.feedback, gateway.objects.size], [[], 0])
  })
}

t.test('201: a form may have as many parts as its limit', async (t) => {
  const gateway = await startGateway(t)
  const parts = [payload(), ...copies(limits.formParts - 1, note)]
  t.equal((await send(gateway, parts)).status, 201)
})

t.test('lenient: a file that is no image is left out, whatever its name', async (t) => {
  const gateway = await startGateway(t)
  const kept = await send(gateway, [payload(), png, other], lenient)
  t.match(kept.body.attachments, [{ status: 'stored' }, { code: 'attachment_not_an_image' }])
})

const form = `--x\r\n${payloadPart}--x\r\n${textPart('a', 'text')}--x--\r\n`
/** A form whose second part is as given, without its last line break. */
const formWith = (part: string) => `--x\r\n${payloadPart}--x\r\n${part}\r\n--x--\r\n`
const blanks = /no blanks/
const sizes = [0, 10, 17_000, 70_000, 500_000].map((length) => 'b'.repeat(length))
const malformed: [what: string, [body: string, detail?: RegExp, type?: string][]][] = [
  [
    'a malformed form',
    [
      ['abc', /./, 'multipart/form-data'],
      ['--\r\n\r\n----', /./, 'multipart/form-data; boundary='],
      ['abc', /./, `multipart/form-data; boundary=${'x'.repeat(201)}`],
      ['abc'],
      ['--x\r\ncontent-disposition: form-data; name="payload"\r\n\r\n{}'],
    ],
  ],
  [
    'what the parser does not read, with the true reason',
    [
      [form.replaceAll('--x\r\n', '--x \t\r\n'), blanks],
      [form.replace('--x\r\n', '--x \r\n'), blanks],
      [form.replace('\r\n--x\r\n', '\r\n--x \r\n'), blanks],
      [form.replace('--x--', '--x --'), blanks],
      [form.replaceAll('\r\n', '\n'), /CR LF/],
      [form.replaceAll('--x', '--y'), /the content type names/],
      [form.replace('--x--', ''), /cannot be parsed/],
      [form.replace('"a"', '"constructor"'), /every JavaScript object/],
      [form.replace('"a"', '"__proto__"'), /every JavaScript object/],
    ],
  ],
  [
    'a part that the parser would skip: no part of a form is lost',
    [
      ...sizes.flatMap((bytes) => [
        `content-type: text/plain\r\n\r\n${bytes}`,
        `content-disposition: attachment; name="a"; filename="f"\r\n\r\n${bytes}`,
        `content-type: text/plain\r\n\r\n${bytes}\r\n--x\r\nx: y\r\n\r\n${bytes}`,
        `content-disposition: form-data; name="a${bytes}`,
        `x-long: ${bytes}${bytes}\r\ncontent-type: text/plain\r\n\r\na`,
      ]),
      'content-disposition: form-data\r\n\r\ntext',
      textPart('n'.repeat(16_385), 'text'),
      textPart('n'.repeat(90_000), 'text'),
    ].map((part): [string] => [formWith(part)]),
  ],
]

for (const [what, forms] of malformed) {
  t.test(`400 for ${what}`, async (t) => {
    const gateway = await startGateway(t)
    for (const [body, detail = /./, type] of forms) {
      const response = await sendText(gateway, body, type)
      t.match(response.json(), { status: 400, code: 'invalid_multipart', detail })
    }
    t.equal(gateway.frames.feedback.length, 0)
  })
}

t.test('500 for a fault of the gateway while it reads a form: the client keeps it', async (t) => {
  const gateway = await startGateway(t)
  t.intercept(Hash.prototype, 'update', {
    value() {
      throw new TypeError('a fault')
    },
  })
  t.match(await send(gateway, [payload(), png]), refusal(500, 'internal_error'))
})
