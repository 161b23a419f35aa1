import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { IntakeError, limits } from '@intake/contract'
import { createIdentity } from '../../src/identity/identity.ts'
import { feedbackPayload, images, secret, startGateway, type TestGateway } from '../support.ts'

type Part = [name: string, value: string | Buffer, fileName?: string | undefined, type?: string]

interface Answer {
  message: string
  id: string
  code: string
  errors: { pointer: string }[]
  attachments: object[]
  omitted_text_parts?: object
  invalid_fields?: object[]
}

async function send(
  { app }: TestGateway,
  parts: Part[],
  extraHeaders: Record<string, string> = {},
): Promise<{ status: number; body: Answer }> {
  const boundary = 'intake-test-boundary'
  const chunks = parts.flatMap(([name, value, fileName, type]) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`,
    fileName === undefined ? '' : `; filename="${fileName}"`,
    type === undefined ? '' : `\r\ncontent-type: ${type}`,
    '\r\n\r\n',
    value,
    '\r\n',
  ])
  const response = await app.inject({
    method: 'POST',
    url: '/api/feedback',
    headers: {
      'x-api-key': secret,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...extraHeaders,
    },
    payload: Buffer.concat([...chunks, `--${boundary}--\r\n`].map((chunk) => Buffer.from(chunk))),
  })
  return { status: response.statusCode, body: response.json() }
}

const payload = (feedback: object = {}, rest: object = {}): Part => [
  'payload',
  JSON.stringify(feedbackPayload(feedback, rest)),
]
const file = (bytes: Buffer | string, name = 'a.png'): Part => [
  'attachments',
  bytes,
  name,
  'image/png',
]
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

t.test('201: images are stored under the id, and the row describes them', async (t) => {
  const gateway = await startGateway(t)
  const { status, body } = await send(gateway, [
    file(images.png, 'misleading.gif'),
    payload({ email: 'user@example.com', id: '6F9619FF-8B86-4D01-B42D-00C04FC964FF' }),
    file(images.gif),
  ])
  t.equal(status, 201)
  t.equal(body.message, 'Feedback successfully created')
  const [row] = gateway.rows('feedback')
  const day = String(row?.['time']).slice(0, 10).replaceAll('-', '/')
  const folder = `feedback/${day}/${body.id}`
  const keys = [`${folder}/1-${sha256(images.png)}.png`, `${folder}/2-${sha256(images.gif)}.gif`]
  t.match(row, {
    id: body.id,
    feedback_id: '6F9619FF-8B86-4D01-B42D-00C04FC964FF',
    email: 'user@example.com',
    text: 'It broke.',
    attachments: [
      {
        key: keys[0],
        content_type: 'image/png',
        bytes: images.png.length,
        sha256: sha256(images.png),
      },
      { key: keys[1], content_type: 'image/gif', sha256: sha256(images.gif) },
    ],
  })
  t.same(gateway.objects.get(keys[0]!)?.body, images.png)
  t.match(gateway.objects.get(keys[1]!), {
    contentType: 'image/gif',
    sha256: sha256(images.gif),
  })
  t.match(body.attachments, [{ status: 'stored' }, { status: 'stored' }])
})

t.test('201: an absent, null or empty e-mail is stored as null', async (t) => {
  const gateway = await startGateway(t)
  for (const email of [undefined, null, '']) {
    t.equal((await send(gateway, [payload({ email }), ['other', 'x']])).status, 201)
  }
  t.strictSame(
    gateway.rows('feedback').map((row) => row['email']),
    [null, null, null],
  )
})

t.test('201: a file under another name is an attachment, in the order of the parts', async (t) => {
  const gateway = await startGateway(t)
  const { status, body } = await send(gateway, [
    ['file', images.gif, 'a.gif'],
    file(images.png),
    payload(),
    ['image', images.webp, undefined, 'image/webp'],
  ])
  t.equal(status, 201)
  const types = ['image/gif', 'image/png', 'image/webp']
  t.match(
    body.attachments,
    types.map((content_type) => ({ status: 'stored', content_type })),
  )
  t.equal(gateway.objects.size, 3)
})

t.test('201: an image in a part without file name and type is an attachment', async (t) => {
  const gateway = await startGateway(t)
  const parts: Part[] = [['a', images.png], payload(), ['attachments', images.gif]]
  const { status, body } = await send(gateway, parts)
  t.equal(status, 201)
  t.match(body.attachments, [
    { status: 'stored', sha256: sha256(images.png) },
    { status: 'stored', sha256: sha256(images.gif) },
  ])
  t.notOk('extra' in gateway.rows('feedback')[0]!)
})

t.test('a file under another name is refused or left out like an attachment', async (t) => {
  const gateway = await startGateway(t)
  const other: Part = ['SENT', 'text', 'SENT.txt', 'text/plain']
  const parts = [payload(), file(images.png), other]
  const { status, body } = await send(gateway, parts)
  const errors = [{ pointer: '/attachments/1' }]
  t.match({ status, body }, { status: 415, body: { code: 'attachment_not_an_image', errors } })
  t.notMatch(JSON.stringify(body), 'SENT')
  const named = Array.from({ length: 5 }, (_, n): Part => [`image${n}`, images.png, 'a.png'])
  t.match(await send(gateway, [payload(), ...named]), {
    status: 413,
    body: { code: 'too_many_attachments' },
  })
  t.equal(gateway.objects.size, 0)
  const lenient = await send(gateway, parts, { prefer: 'handling=lenient' })
  t.match(lenient.body.attachments, [{ status: 'stored' }, { code: 'attachment_not_an_image' }])
})

t.test('201 for internationalised e-mail addresses; 400 for invalid ones', async (t) => {
  const gateway = await startGateway(t)
  const sent = [
    'jürgen@exämple.de',
    '用户@例子.公司',
    'उपयोगकर्ता@उदाहरण.भारत',
    'a.b+c@[127.0.0.1]',
    '"a b"@x.example',
  ]
  for (const email of sent) t.equal((await send(gateway, [payload({ email })])).status, 201, email)
  t.same(
    gateway.rows('feedback').map(({ email }) => email),
    sent,
  )
  for (const email of [
    'nobody',
    '@x.de',
    'a@',
    'a@b@c',
    'a b@c.de',
    'a@b..c',
    'a@.b',
    'a@b.',
    'A <a@b.c>',
    'a@b\n',
    `${'a'.repeat(250)}@b.de`,
  ]) {
    t.match(await send(gateway, [payload({ email })]), {
      status: 400,
      body: { errors: [{ pointer: '/payload/feedback/email' }] },
    })
  }
})

t.test('201: an empty file input of a browser form is not an attachment', async (t) => {
  const gateway = await startGateway(t)
  for (const part of [
    ['attachments', ''],
    ['attachments', '', '', 'application/octet-stream'],
    ['file', '', '', 'application/octet-stream'],
  ] as Part[]) {
    const { body } = await send(gateway, [payload(), part])
    t.same(body.attachments, [])
  }
})

t.test('201: parts named attachments[] by form libraries are attachments', async (t) => {
  const gateway = await startGateway(t)
  const { body } = await send(gateway, [
    payload(),
    ['attachments[]', images.png, 'a.png'],
    ['attachments[1]', images.gif, 'b.gif'],
  ])
  t.equal(body.attachments.length, 2)
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
  t.match(await send(gateway, [['payload', '{']]), { status: 400, body: { code: 'invalid_json' } })
  const latin1 = Buffer.from(JSON.stringify(feedbackPayload({ text: 'é' })), 'latin1')
  t.match(await send(gateway, [['payload', latin1, undefined, 'text/plain; charset=utf-8']]), {
    status: 400,
    body: { code: 'invalid_encoding' },
  })
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
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="__proto__"\r\n\r\n{}\r\n--x--',
    ],
  ]
  for (const [type, body] of cases) {
    const response = await app.inject({
      method: 'POST',
      url: '/api/feedback',
      headers: { 'x-api-key': secret, 'content-type': type },
      payload: body,
    })
    t.match(response.json(), { status: 400, code: 'invalid_multipart' }, body)
  }
})

t.test('400 for a part that the parser would skip: no part of a form is lost', async (t) => {
  const gateway = await startGateway(t)
  const form = (part: string) =>
    `--x\r\ncontent-disposition: form-data; name="payload"\r\n\r\n` +
    `${JSON.stringify(feedbackPayload())}\r\n--x\r\n${part}\r\n--x--\r\n`
  const refused = async (part: string) => {
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/api/feedback',
      headers: { 'x-api-key': secret, 'content-type': 'multipart/form-data; boundary=x' },
      payload: form(part),
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
    const { status, body } = await send(gateway, parts, { prefer: 'handling=lenient' })
    t.match({ status, body }, { status: 413, body: { code: 'body_too_large' } })
  }
  t.equal(gateway.frames.feedback.length, 1)
})

t.test(
  '201: unknown text parts never cause a refusal; the response counts omitted ones',
  async (t) => {
    const gateway = await startGateway(t)
    const texts = (count: number, text: string | Buffer): Part[] =>
      Array.from({ length: count }, (_, n): Part => [`n${n}`, text])
    for (const prefer of [{}, { prefer: 'handling=lenient' }]) {
      for (const [parts, omitted] of [
        [texts(1, Buffer.from('zwö', 'latin1')), undefined],
        [texts(33, 'x'), { parts: 1, bytes: 1 }],
        [texts(2, 'x'.repeat(600_000)), { parts: 1, bytes: 600_000 }],
      ] as const) {
        const { status, body } = await send(gateway, [payload(), ...parts], prefer)
        t.match({ status, body }, { status: 201, body: { omitted_text_parts: omitted } })
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
      t.match(await send(gateway, [payload(), ...many]), {
        status: 413,
        body: { code: 'too_many_attachments', errors: [{ pointer: '/attachments/4' }] },
      })
    }
    const large = Buffer.concat([images.png, Buffer.alloc(10 * 1024 * 1024)])
    t.match(await send(gateway, [payload(), file(large)]), {
      status: 413,
      body: { code: 'attachment_too_large', errors: [{ pointer: '/attachments/0' }] },
    })
    t.match(await send(gateway, [['payload', 'x'.repeat(1024 * 1024 + 1)]]), {
      status: 413,
      body: { code: 'body_too_large', errors: [{ pointer: '/payload' }] },
    })
    t.match(await send(gateway, [payload()], { 'content-length': '99999999' }), {
      status: 413,
      body: { code: 'body_too_large' },
    })
    t.equal(gateway.frames.feedback.length, 0)
    t.equal(gateway.objects.size, 0)
  },
)

t.test('lenient: an invalid e-mail is kept in extra, and the feedback is accepted', async (t) => {
  for (const email of ['nobody at example.com', 7, { at: 'example.com' }]) {
    const gateway = await startGateway(t)
    const parts = [payload({ email, topic: 'a' })]
    t.match(await send(gateway, parts), { status: 400, body: { code: 'invalid_request' } })
    const { status, body } = await send(gateway, parts, { prefer: 'handling=lenient' })
    t.equal(status, 201)
    t.match(body.invalid_fields, [
      { pointer: '/payload/feedback/email', detail: 'must be an e-mail address' },
    ])
    const extra = { feedback: { email, topic: 'a' } }
    t.match(gateway.rows('feedback'), [{ email: null, text: 'It broke.', extra }])
  }
})

t.test(
  'lenient: no effect on a valid or missing e-mail; an invalid payload is refused',
  async (t) => {
    const gateway = await startGateway(t)
    const lenient = { prefer: 'handling=lenient' }
    for (const email of ['user@example.com', '', null]) {
      const { status, body } = await send(gateway, [payload({ email })], lenient)
      t.equal(status, 201)
      t.notOk('invalid_fields' in body)
    }
    t.match(gateway.rows('feedback'), [{ email: 'user@example.com' }, { email: null }, {}])
    for (const wrong of ['null', '{}', '{"feedback":null}', '{"feedback":{"email":7}}']) {
      t.equal((await send(gateway, [['payload', wrong]], lenient)).status, 400)
    }
  },
)

t.test('lenient: a form with forty images keeps its text and four of them', async (t) => {
  const gateway = await startGateway(t)
  const forty = Array.from({ length: 40 }, () => file(images.png))
  const lenient = { prefer: 'handling=lenient' }
  const { status, body } = await send(gateway, [payload(), ...forty], lenient)
  t.equal(status, 201)
  t.match(body['attachments'], [{ status: 'stored' }, {}, {}, {}, { code: 'too_many_attachments' }])
  t.equal(gateway.objects.size, 4)
})

t.test('lenient: files beyond the limit of a form are skipped; the text is kept', async (t) => {
  const gateway = await startGateway(t)
  const image = (bytes: number) => file(Buffer.concat([images.png, Buffer.alloc(bytes)]))
  const lenient = { prefer: 'handling=lenient' }
  const sendAll = (...files: Part[]) => send(gateway, [payload(), ...files], lenient)
  const one = await sendAll(image(45_000_000))
  t.match(one.body.attachments, [{ status: 'rejected', code: 'attachment_too_large' }])
  const five = await sendAll(...Array.from({ length: 5 }, () => image(9_000_000)))
  t.equal(five.status, 201)
  t.match(five.body.attachments, [
    {},
    {},
    {},
    { status: 'stored' },
    { code: 'too_many_attachments' },
  ])
  t.equal(gateway.objects.size, 4)
})

t.test('415 for a file that is not an image by its bytes', async (t) => {
  const gateway = await startGateway(t)
  for (const bytes of [
    'plain text',
    '',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '%PDF-1.7\n',
  ]) {
    t.match(await send(gateway, [payload(), file(images.png), file(bytes)]), {
      status: 415,
      body: { code: 'attachment_not_an_image', errors: [{ pointer: '/attachments/1' }] },
    })
  }
  t.equal(gateway.frames.feedback.length, 0)
  t.equal(gateway.objects.size, 0)
})

t.test(
  '201 with Prefer: handling=lenient: invalid attachments are left out, with the reason',
  async (t) => {
    const gateway = await startGateway(t)
    const parts = [payload(), file('text'), ...Array.from({ length: 4 }, () => file(images.png))]
    const { status, body } = await send(gateway, parts, { prefer: 'handling=lenient' })
    t.equal(status, 201)
    t.match(body.attachments, [
      { status: 'rejected', code: 'attachment_not_an_image' },
      { status: 'stored', content_type: 'image/png' },
      { status: 'stored' },
      { status: 'stored' },
      { status: 'rejected', code: 'too_many_attachments' },
    ])
    t.equal(gateway.objects.size, 3)
    t.match(gateway.rows('feedback')[0], { attachments: [{}, {}, {}] })
  },
)

t.test('503 when the attachment store or the queue fails; no object is left', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.put = new IntakeError('storage_unavailable', 'down')
  t.match(await send(gateway, [payload(), file(images.png)]), {
    status: 503,
    body: { code: 'storage_unavailable' },
  })
  gateway.fail.put = undefined
  gateway.fail.enqueue = new IntakeError('queue_unavailable', 'down')
  t.match(await send(gateway, [payload(), file(images.png)]), {
    status: 503,
    body: { code: 'queue_unavailable' },
  })
  t.equal(gateway.objects.size, 0)
})

t.test(
  '503 with an idempotency key: the objects stay, because a retry stores the same ones',
  async (t) => {
    const gateway = await startGateway(t)
    const id = '6f9619ff-8b86-4d01-b42d-00c04fc964ff'
    gateway.fail.enqueue = new IntakeError('queue_unavailable', 'down')
    t.equal((await send(gateway, [payload({ id }), file(images.png)])).status, 503)
    t.equal(gateway.objects.size, 1)
    gateway.fail.enqueue = undefined
    const { status, body } = await send(gateway, [payload({ id }), file(images.png)])
    t.equal(status, 201)
    t.equal(gateway.objects.size, 1)
    t.match([...gateway.objects.keys()][0], `/${body.id}/1-${sha256(images.png)}.png`)
  },
)

t.test('a different image under the same key is refused, and the first one stays', async (t) => {
  const gateway = await startGateway(t)
  const id = '6f9619ff-8b86-4d01-b42d-00c04fc964ff'
  t.equal((await send(gateway, [payload({ id }), file(images.png)])).status, 201)
  const before = new Map(gateway.objects)
  t.match(await send(gateway, [payload({ id }), file(images.gif)]), {
    status: 422,
    body: { code: 'idempotency_key_reused' },
  })
  t.same(gateway.objects, before)
})

t.test('the id of a feedback and its idempotency key identify the same feedback', async (t) => {
  const gateway = await startGateway(t)
  const [id, other] = [createIdentity(Date.now()).id, randomUUID()]
  const sendAs = (feedbackId: string, key: string) =>
    send(gateway, [payload({ id: feedbackId })], { 'idempotency-key': key })
  const first = await sendAs(id, 'k1')
  t.equal(first.status, 201)
  t.not(first.body.id, id)
  t.equal((await sendAs(id, 'k1')).body.id, first.body.id)
  t.equal((await sendAs(id, 'k2')).body.id, first.body.id)
  const reused = await sendAs(other, 'k1')
  t.match(reused, { status: 422, body: { code: 'idempotency_key_reused' } })
  t.equal(gateway.rows('feedback').length, 3)
})

t.test('503 outcome_unknown: the objects stay, because the row may exist', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.enqueue = new IntakeError('outcome_unknown', 'no response')
  t.equal((await send(gateway, [payload(), file(images.png)])).status, 503)
  t.equal(gateway.objects.size, 1)
})

t.test('503 busy for forms of unknown length, too, by the bytes that have arrived', async (t) => {
  // Seven tenths are for forms, two thirds of that for one API key: 108 MiB, twelve images of 9 MB.
  const env = { BYTES_IN_FLIGHT_MAX: String(232 * 1024 * 1024) }
  const { app } = await startGateway(t, { env })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const disposition = '--b\r\ncontent-disposition: form-data; name='
  const open = () => {
    const form = request({
      host: '127.0.0.1',
      port,
      path: '/api/feedback',
      method: 'POST',
      headers: {
        'x-api-key': secret,
        'content-type': 'multipart/form-data; boundary=b',
        'transfer-encoding': 'chunked',
      },
    })
    const status = once(form, 'response').then(([response]: IncomingMessage[]) => {
      response!.resume()
      return response!.statusCode
    })
    // The gateway does not read a refused form to its end, and closes the connection.
    form.on('error', () => undefined)
    form.write(`${disposition}"payload"\r\n\r\n${JSON.stringify(feedbackPayload())}\r\n`)
    return { form, status }
  }
  const image = Buffer.concat([images.png, Buffer.alloc(9_000_000), Buffer.from('\r\n')])
  const write = (form: ClientRequest) => {
    form.write(`${disposition}"attachments"; filename="a.png"\r\n\r\n`)
    form.write(image)
  }
  const opened = Array.from({ length: 20 }, open)
  for (const { form } of opened) write(form)
  t.equal(await Promise.race(opened.map(({ status }) => status)), 503)
  for (const { form } of opened) form.end('--b--\r\n')
  const statuses = await Promise.all(opened.map(({ status }) => status))
  t.same(new Set(statuses), new Set([201, 503]))
  const again = Array.from({ length: 6 }, open)
  for (const { form } of again) {
    write(form)
    form.end('--b--\r\n')
  }
  const statusesAgain = await Promise.all(again.map(({ status }) => status))
  t.same(new Set(statusesAgain), new Set([201]), 'the bytes have been released')
})

t.test('503 busy when the bytes in flight are used up', async (t) => {
  // Seven tenths are for forms, two thirds of that for one API key: 42 MiB.
  const env = {
    BYTES_IN_FLIGHT_MAX: String(92 * 1024 * 1024),
    BATCH_JSON_BYTES_MAX: String(1024 * 1024),
  }
  const gateway = await startGateway(t, { env })
  const large = file(Buffer.concat([images.png, Buffer.alloc(9 * 1024 * 1024)]))
  const form = () => send(gateway, [payload(), large, large, large])
  const responses = await Promise.all([form(), form(), form()])
  t.same(new Set(responses.map(({ status }) => status)), new Set([201, 503]))
  t.equal((await form()).status, 201)
})

t.test('201: unknown fields, text parts and listed attachments are kept in extra', async (t) => {
  const gateway = await startGateway(t)
  const sent = payload({ mood: 'sad', attachments: [{ name: 'a.png' }] }, { build: 7 })
  const { status } = await send(gateway, [sent, ['locale', 'de']])
  t.equal(status, 201)
  t.same(gateway.rows('feedback')[0]?.['extra'], {
    build: 7,
    feedback: { mood: 'sad', attachments: [{ name: 'a.png' }] },
    form: { locale: 'de' },
  })
})
