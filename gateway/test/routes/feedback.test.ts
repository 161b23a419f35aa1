import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { IntakeError } from '@intake/contract'
import { createIdentity } from '@intake/identity'
import { copies } from '../batches.ts'
import { images, startGateway } from '../support.ts'
import { file, payload, send, type Part, lenient, refusal } from '../forms.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const id = '6F9619FF-8B86-4D01-B42D-00C04FC964FF'
const png = file(images.png)
const withId = [payload({ id }), png]

t.test('201: images are stored under the id, and the row describes them', async (t) => {
  const gateway = await startGateway(t)
  const { status, body } = await send(gateway, [
    file(images.png, 'misleading.gif'),
    payload({ email: 'user@example.com', id }),
    file(images.gif),
  ])
  t.equal(status, 201)
  t.equal(body.message, 'Feedback successfully created')
  const [row] = gateway.rows('feedback')
  const day = String(row?.['time']).slice(0, 10).replaceAll('-', '/')
  const stored = [images.png, images.gif].map((bytes, index) => {
    const type = ['png', 'gif'][index]
    const facts = { content_type: `image/${type}`, bytes: bytes.length, sha256: sha256(bytes) }
    return { key: `feedback/${day}/${body.id}/${index + 1}-${facts.sha256}.${type}`, ...facts }
  })
  t.match(row, {
    id: body.id,
    feedback_id: id,
    email: 'user@example.com',
    text: 'It broke.',
    attachments: stored,
  })
  t.same([...gateway.objects.keys()], [stored[0]!.key, stored[1]!.key])
  t.match(
    [...gateway.objects.values()],
    [
      { body: images.png, contentType: 'image/png', sha256: sha256(images.png) },
      { body: images.gif, contentType: 'image/gif', sha256: sha256(images.gif) },
    ],
  )
  t.match(body.attachments, [{ status: 'stored' }, { status: 'stored' }])
})

const attachments: [what: string, parts: Part[], types: string[]][] = [
  [
    'a file under another name is an attachment, in the order of the parts',
    [['file', images.gif, 'a.gif'], png, ['image', images.webp, undefined, 'image/webp']],
    ['gif', 'png', 'webp'],
  ],
  [
    'an animated PNG is a PNG, in a file part and in a text part',
    [file(images.animatedPng), ['image', images.animatedPng]],
    ['png', 'png'],
  ],
  [
    'an image in a part without file name and type is an attachment',
    [
      ['a', images.png],
      ['attachments', images.gif],
    ],
    ['png', 'gif'],
  ],
  [
    'parts named attachments[] by form libraries are attachments',
    [
      ['attachments[]', images.png, 'a.png'],
      ['attachments[1]', images.gif, 'b.gif'],
    ],
    ['png', 'gif'],
  ],
  [
    'an empty file input of a browser form is not an attachment',
    [
      ['attachments', ''],
      ['attachments', '', '', 'application/octet-stream'],
      ['file', '', '', 'application/octet-stream'],
    ],
    [],
  ],
]

for (const [what, parts, types] of attachments) {
  t.test(`201: ${what}`, async (t) => {
    const gateway = await startGateway(t)
    const { status, body } = await send(gateway, [
      ...parts.slice(0, 1),
      payload(),
      ...parts.slice(1),
    ])
    t.equal(status, 201)
    const expected = types.map((type) => ({ status: 'stored', content_type: `image/${type}` }))
    t.match(body.attachments, expected)
    t.equal(body.attachments.length, types.length)
    t.match(
      [...gateway.objects.values()],
      types.map((_type, n) => ({ body: parts[n]![1] })),
    )
    t.notOk('extra' in gateway.rows('feedback')[0]!)
  })
}

t.test('201: a payload may have a byte order mark, and any label of UTF-8', async (t) => {
  const gateway = await startGateway(t)
  const [name, json] = payload({ text: 'für' })
  for (const type of [
    'application/json; charset=utf8',
    'text/plain; charset="UTF-8"',
    'text/plain',
  ]) {
    const { status } = await send(gateway, [[name, `\ufeff${json as string}`, undefined, type]])
    t.equal(status, 201)
    t.match(gateway.rows('feedback').at(-1), { text: 'für' })
  }
})

t.test('201: an e-mail is stored without the white space around it; null for none', async (t) => {
  const gateway = await startGateway(t)
  const email = 'user@example.com'
  // Keyboards (also Japanese ones) add such white space, or people copy it from a page.
  const around = [
    email,
    ` ${email}`,
    `${email}\n`,
    `\t\r\n${email} \u00a0`,
    `\u3000${email}\ufeff`,
    `${' '.repeat(300)}${email}`,
  ]
  const none = [undefined, null, '', ' ', '\n\u00a0']
  for (const prefer of ['', 'handling=lenient']) {
    for (const [sent, stored] of [
      ...around.map((one) => [one, email] as const),
      ...none.map((one) => [one, null] as const),
    ]) {
      const form = payload({ id: stored === null ? randomUUID() : id, email: sent })
      const { status, body } = await send(gateway, [form], { prefer })
      t.equal(status, 201, JSON.stringify(sent))
      t.notOk('invalid_fields' in body)
      const row = gateway.rows('feedback').at(-1)
      t.equal(row?.['email'], stored)
      t.notOk(row?.['extra'])
    }
  }
  const ids = gateway.rows('feedback').filter((row) => row['email'] === email)
  t.equal(new Set(ids.map((row) => row['id'])).size, 1, 'it is the same content')
})

t.test('201: internationalised e-mail addresses', async (t) => {
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
})

t.test('400 for an invalid e-mail; a lenient form keeps it as it was sent', async (t) => {
  const gateway = await startGateway(t)
  for (const email of [
    ...'nobody @x.de a@ a@b@c a@b..c a@.b a@b.'.split(' '),
    'nobody at example.com',
    'a b@c.de',
    ' user @example.com\n',
    'A <a@b.c>',
    'a@b\nc',
    `${'a'.repeat(250)}@b.de`,
    7,
    { at: 'example.com' },
  ]) {
    const parts = [payload({ email, topic: 'a' })]
    const invalid = { pointer: '/payload/feedback/email', detail: 'must be an e-mail address' }
    t.match(await send(gateway, parts), refusal(400, 'invalid_request', invalid.pointer))
    const { status, body } = await send(gateway, parts, lenient)
    t.equal(status, 201)
    t.match(body.invalid_fields, [invalid])
    const extra = { feedback: { email, topic: 'a' } }
    t.match(gateway.rows('feedback').at(-1), { email: null, text: 'It broke.', extra })
  }
})

t.test('400: an invalid payload is refused, also if the form is lenient', async (t) => {
  const gateway = await startGateway(t)
  for (const wrong of ['null', '{}', '{"feedback":null}', '{"feedback":{"email":7}}']) {
    t.equal((await send(gateway, [['payload', wrong]], lenient)).status, 400)
  }
})

t.test('201 with Prefer: handling=lenient: invalid attachments are left out', async (t) => {
  const image = (bytes: number) => file(Buffer.concat([images.png, Buffer.alloc(bytes)]))
  const results = {
    stored: { status: 'stored', content_type: 'image/png' },
    text: { status: 'rejected', code: 'attachment_not_an_image' },
    large: { status: 'rejected', code: 'attachment_too_large' },
    many: { status: 'rejected', code: 'too_many_attachments' },
  }
  const { stored, text, large, many } = results
  for (const [parts, expected] of [
    [
      [file('text'), ...copies(4, png)],
      [text, stored, stored, stored, many],
    ],
    [copies(40, png), [...copies(4, stored), ...copies(36, many)]],
    [[image(45_000_000)], [large]],
    [copies(5, image(9_000_000)), [stored, stored, stored, stored, many]],
  ] as const) {
    const gateway = await startGateway(t)
    const { status, body } = await send(gateway, [payload(), ...parts], lenient)
    t.equal(status, 201)
    t.match(body.attachments, expected)
    const count = expected.filter((one) => one === stored).length
    t.equal(gateway.objects.size, count)
    t.match(gateway.rows('feedback'), [{ attachments: { length: count } }])
  }
})

t.test('503 when the attachment store or the queue fails; no object is left', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.put = new IntakeError('storage_unavailable', 'down')
  t.match(await send(gateway, [payload(), png]), refusal(503, 'storage_unavailable'))
  gateway.fail.put = undefined
  gateway.fail.enqueue = new IntakeError('queue_unavailable', 'down')
  t.match(await send(gateway, [payload(), png]), refusal(503, 'queue_unavailable'))
  t.equal(gateway.objects.size, 0)
})

t.test('503 with an id: the objects stay, because a retry stores the same ones', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.enqueue = new IntakeError('queue_unavailable', 'down')
  t.equal((await send(gateway, withId)).status, 503)
  t.equal(gateway.objects.size, 1)
  gateway.fail.enqueue = undefined
  const { status, body } = await send(gateway, withId)
  t.equal(status, 201)
  t.equal(gateway.objects.size, 1)
  t.match([...gateway.objects.keys()][0], `/${body.id}/1-${sha256(images.png)}.png`)
})

t.test('a different image under the same key is refused, and the first one is kept', async (t) => {
  const gateway = await startGateway(t)
  t.equal((await send(gateway, withId)).status, 201)
  const before = new Map(gateway.objects)
  const other = await send(gateway, [payload({ id }), file(images.gif)])
  t.match(other, refusal(422, 'idempotency_key_reused'))
  t.same(gateway.objects, before)
})

t.test('the id of a feedback and its idempotency key identify the same feedback', async (t) => {
  const gateway = await startGateway(t)
  const own = createIdentity(Date.now()).id
  const sendAs = (feedbackId: string, key: string) =>
    send(gateway, [payload({ id: feedbackId })], { 'idempotency-key': key })
  const first = await sendAs(own, 'k1')
  t.equal(first.status, 201)
  t.not(first.body.id, own)
  t.equal((await sendAs(own, 'k1')).body.id, first.body.id)
  t.equal((await sendAs(own, 'k2')).body.id, first.body.id)
  t.match(await sendAs(randomUUID(), 'k1'), refusal(422, 'idempotency_key_reused'))
  t.equal(gateway.rows('feedback').length, 3)
})

for (const [status, code] of [
  [503, 'outcome_unknown'],
  [500, 'internal_error'],
] as const) {
  t.test(`${status} ${code}: the objects stay, because the row may exist`, async (t) => {
    const gateway = await startGateway(t)
    gateway.fail.enqueue = new IntakeError(code, 'no response')
    t.equal((await send(gateway, [payload(), png])).status, status)
    t.equal(gateway.objects.size, 1)
  })
}

t.test('201: unknown fields, text parts and listed attachments are kept in extra', async (t) => {
  const gateway = await startGateway(t)
  const sent = payload({ mood: 'sad', attachments: [{ name: 'a.png' }] }, { build: 7 })
  t.equal((await send(gateway, [sent, ['locale', 'de']])).status, 201)
  t.same(gateway.rows('feedback')[0]?.['extra'], {
    build: 7,
    feedback: { mood: 'sad', attachments: [{ name: 'a.png' }] },
    form: { locale: 'de' },
  })
})
