import t from 'tap'
import { limits } from '@intake/contract'
import { feedbackPayload, images, post, startGateway } from '../support.ts'
import { file, payload, send, type Part, refusal, lenient } from '../forms.ts'

t.test('a file under another name is refused or left out like an attachment', async (t) => {
  const gateway = await startGateway(t)
  const other: Part = ['SENT', 'text', 'SENT.txt', 'text/plain']
  const parts = [payload(), file(images.png), other]
  const { status, body } = await send(gateway, parts)
  const errors = [{ pointer: '/attachments/1' }]
  t.match({ status, body }, { status: 415, body: { code: 'attachment_not_an_image', errors } })
  t.notMatch(JSON.stringify(body), 'SENT')
  const named = Array.from({ length: 5 }, (_, n): Part => [`image${n}`, images.png, 'a.png'])
  t.match(await send(gateway, [payload(), ...named]), refusal(413, 'too_many_attachments'))
  t.equal(gateway.objects.size, 0)
  const kept = await send(gateway, parts, lenient)
  t.match(kept.body.attachments, [{ status: 'stored' }, { code: 'attachment_not_an_image' }])
})

t.test('400 for a payload that is missing, a file, sent twice, or invalid', async (t) => {
  const gateway = await startGateway(t)
  const cases: [Part[], string, string][] = [
    [[file(images.png)], 'invalid_request', '/payload'],
    [[['payload', '{}', 'payload.json', 'application/json']], 'invalid_request', '/payload'],
    [[payload(), payload()], 'invalid_request', '/payload'],
    [[payload({ text: '' })], 'invalid_request', '/payload/feedback/text'],
    [[payload({ text: 'x'.repeat(20_001) })], 'invalid_request', '/payload/feedback/text'],
    [[payload({ email: 'nobody' })], 'invalid_request', '/payload/feedback/email'],
    [[payload({ id: '1' })], 'invalid_request', '/payload/feedback/id'],
    [[payload({}, { device_uuid: 'x' })], 'invalid_request', '/payload/device_uuid'],
    [[payload(), ['attachments', 'text, not a file']], 'invalid_request', '/attachments'],
  ]
  for (const [parts, code, pointer] of cases) {
    const { status, body } = await send(gateway, [...parts, file(images.png)])
    t.equal(status, 400, pointer)
    t.equal(body.code, code)
    t.equal(body.errors[0]?.pointer, pointer)
  }
  t.equal(gateway.frames.feedback.length, 0)
  t.equal(gateway.objects.size, 0)
})

t.test('400 for a payload that is not JSON or not UTF-8', async (t) => {
  const gateway = await startGateway(t)
  t.match(await send(gateway, [['payload', '{']]), refusal(400, 'invalid_json'))
  const empty = await send(gateway, [['payload', '']])
  t.match(empty.body, { code: 'invalid_json', detail: 'The payload is empty.' })
  const latin1 = Buffer.from(JSON.stringify(feedbackPayload({ text: 'é' })), 'latin1')
  t.match(
    await send(gateway, [['payload', latin1, undefined, 'text/plain; charset=utf-8']]),
    refusal(400, 'invalid_encoding'),
  )
})

t.test('400 for a malformed form', async (t) => {
  const { app } = await startGateway(t)
  const cases: [string, string][] = [
    ['multipart/form-data', 'abc'],
    ['multipart/form-data; boundary=', '--\r\n\r\n----'],
    [`multipart/form-data; boundary=${'x'.repeat(201)}`, 'abc'],
    ['multipart/form-data; boundary=x', 'abc'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="payload"\r\n\r\n{}',
    ],
  ]
  for (const [type, body] of cases) {
    const response = await post({ app }, '/api/feedback', body, { 'content-type': type })
    t.match(response.json(), { status: 400, code: 'invalid_multipart' }, body)
  }
})

t.test('400 with the true reason for what the parser does not read', async (t) => {
  const gateway = await startGateway(t)
  const form = [
    '--x',
    'content-disposition: form-data; name="payload"',
    '',
    JSON.stringify(feedbackPayload()),
    '--x',
    'content-disposition: form-data; name="a"',
    '',
    'text',
    '--x--',
    '',
  ].join('\r\n')
  const blanks = /no blanks/
  for (const [body, detail] of [
    [form.replaceAll('--x\r\n', '--x \t\r\n'), blanks],
    [form.replace('--x\r\n', '--x \r\n'), blanks],
    [form.replace('\r\n--x\r\n', '\r\n--x \r\n'), blanks],
    [form.replace('--x--', '--x --'), blanks],
    [form.replaceAll('\r\n', '\n'), /CR LF/],
    [form.replaceAll('--x', '--y'), /the content type names/],
    [form.replace('--x--', ''), /cannot be parsed/],
    [form.replace('"a"', '"constructor"'), /every JavaScript object/],
    [form.replace('"a"', '"__proto__"'), /every JavaScript object/],
  ] as const) {
    const response = await post(gateway, '/api/feedback', body, {
      'content-type': 'multipart/form-data; boundary=x',
    })
    t.match(response.json(), { status: 400, code: 'invalid_multipart', detail }, body.slice(0, 9))
  }
  t.equal(gateway.frames.feedback.length, 0)
})

t.test('400 for a part that the parser would skip: no part of a form is lost', async (t) => {
  const gateway = await startGateway(t)
  const form = (part: string) =>
    `--x\r\ncontent-disposition: form-data; name="payload"\r\n\r\n` +
    `${JSON.stringify(feedbackPayload())}\r\n--x\r\n${part}\r\n--x--\r\n`
  const refused = async (part: string) => {
    const response = await post(gateway, '/api/feedback', form(part), {
      'content-type': 'multipart/form-data; boundary=x',
    })
    t.match(response.json(), { status: 400, code: 'invalid_multipart' }, part.slice(0, 60))
  }
  for (const length of [0, 10, 17_000, 70_000, 500_000]) {
    const bytes = 'b'.repeat(length)
    await refused(`content-type: text/plain\r\n\r\n${bytes}`)
    await refused(`content-disposition: attachment; name="a"; filename="f"\r\n\r\n${bytes}`)
    await refused(`content-type: text/plain\r\n\r\n${bytes}\r\n--x\r\nx: y\r\n\r\n${bytes}`)
    await refused(`content-disposition: form-data; name="a${bytes}`)
    await refused(`x-long: ${bytes}${bytes}\r\ncontent-type: text/plain\r\n\r\na`)
  }
  await refused('content-disposition: form-data\r\n\r\ntext')
  await refused(`content-disposition: form-data; name="${'n'.repeat(16_385)}"\r\n\r\ntext`)
  await refused(`content-disposition: form-data; name="${'n'.repeat(90_000)}"\r\n\r\ntext`)
  t.equal(gateway.frames.feedback.length, 0)
})

t.test('413 for more parts than a form may have', async (t) => {
  const gateway = await startGateway(t)
  const many = (count: number, one: Part) => Array.from({ length: count }, () => one)
  t.equal((await send(gateway, [payload(), ...many(limits.formParts - 1, ['n', 'x'])])).status, 201)
  for (const parts of [
    [payload(), ...many(limits.formParts, ['n', 'x'])],
    [payload(), ...many(3_000, ['n', 'x'])],
    many(3_000, file(images.png)),
  ]) {
    t.match(await send(gateway, parts, lenient), refusal(413, 'body_too_large'))
  }
  t.equal(gateway.frames.feedback.length, 1)
})

t.test(
  '201: unknown text parts never cause a refusal; the response counts omitted ones',
  async (t) => {
    const gateway = await startGateway(t)
    const texts = (count: number, text: string | Buffer): Part[] =>
      Array.from({ length: count }, (_, n): Part => [`n${n}`, text])
    for (const prefer of [{}, lenient]) {
      for (const [parts, omitted] of [
        [texts(1, Buffer.from('zwö', 'latin1')), undefined],
        [texts(33, 'x'), { parts: 1, bytes: 1 }],
        [texts(2, 'x'.repeat(600_000)), { parts: 1, bytes: 600_000 }],
      ] as const) {
        t.match(await send(gateway, [payload(), ...parts], prefer), {
          status: 201,
          body: { omitted_text_parts: omitted },
        })
        const { extra } = gateway.rows('feedback').at(-1) as { extra: Record<string, object> }
        t.same(extra['form_omitted'], omitted)
        const kept = parts.length - (omitted?.parts ?? 0)
        t.equal(Object.keys(extra['form'] ?? {}).length, kept)
      }
    }
  },
)

t.test(
  '413 for a fifth attachment, one over 10 MiB, a payload over 1 MiB, too large a form',
  async (t) => {
    const gateway = await startGateway(t)
    for (const length of [5, 40]) {
      const many = Array.from({ length }, () => file(images.png))
      t.match(
        await send(gateway, [payload(), ...many]),
        refusal(413, 'too_many_attachments', '/attachments/4'),
      )
    }
    const large = Buffer.concat([images.png, Buffer.alloc(10 * 1024 * 1024)])
    t.match(
      await send(gateway, [payload(), file(large)]),
      refusal(413, 'attachment_too_large', '/attachments/0'),
    )
    t.match(
      await send(gateway, [['payload', 'x'.repeat(1024 * 1024 + 1)]]),
      refusal(413, 'body_too_large', '/payload'),
    )
    t.match(
      await send(gateway, [payload()], { 'content-length': '99999999' }),
      refusal(413, 'body_too_large'),
    )
    t.equal(gateway.frames.feedback.length, 0)
    t.equal(gateway.objects.size, 0)
  },
)

t.test('415 for a file that is not an image by its bytes', async (t) => {
  const gateway = await startGateway(t)
  for (const bytes of [
    'plain text',
    '',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '%PDF-1.7\n',
  ]) {
    t.match(
      await send(gateway, [payload(), file(images.png), file(bytes)]),
      refusal(415, 'attachment_not_an_image', '/attachments/1'),
    )
  }
  t.equal(gateway.frames.feedback.length, 0)
  t.equal(gateway.objects.size, 0)
})
