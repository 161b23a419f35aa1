import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { IntakeError } from '@intake/contract'
import { createIdentity } from '@intake/identity'
import { images, startGateway } from '../support.ts'
import { file, payload, send, type Part, lenient, refusal } from '../forms.ts'

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

t.test('201: an animated PNG is a PNG, in a file part and in a text part', async (t) => {
  const gateway = await startGateway(t)
  const sent = file(images.animatedPng)
  const parts: Part[] = [payload(), sent, ['image', images.animatedPng]]
  const { status, body } = await send(gateway, parts)
  t.equal(status, 201)
  t.match(body.attachments, [
    { status: 'stored', content_type: 'image/png' },
    { status: 'stored', content_type: 'image/png' },
  ])
  t.match([...gateway.objects.values()], [{ body: images.animatedPng }, {}])
})

t.test('201: the white space around an e-mail is removed', async (t) => {
  const gateway = await startGateway(t)
  const id = randomUUID()
  // Keyboards (also Japanese ones) add such white space, or people copy it from a page.
  for (const email of [
    'user@example.com',
    ' user@example.com',
    'user@example.com\n',
    '\t\r\nuser@example.com \u00a0',
    '\u3000user@example.com\ufeff',
    `${' '.repeat(300)}user@example.com`,
  ]) {
    for (const prefer of ['', 'handling=lenient']) {
      const { status, body } = await send(gateway, [payload({ id, email })], { prefer })
      t.equal(status, 201, JSON.stringify(email))
      t.equal(body.invalid_fields, undefined)
      const row = gateway.rows('feedback').at(-1)
      t.equal(row?.['email'], 'user@example.com')
      t.notOk(row?.['extra'])
    }
  }
  const ids = new Set(gateway.rows('feedback').map((row) => row['id']))
  t.equal(ids.size, 1, 'with and without white space it is the same content')
  for (const email of ['', ' ', '\n\u00a0']) {
    t.equal((await send(gateway, [payload({ email })])).status, 201)
    t.equal(gateway.rows('feedback').at(-1)?.['email'], null)
  }
})

t.test(
  '400 for white space within an e-mail; a lenient form keeps it as it was sent',
  async (t) => {
    const gateway = await startGateway(t)
    const email = ' user @example.com\n'
    t.match(await send(gateway, [payload({ email })]), {
      status: 400,
      body: { errors: [{ pointer: '/payload/feedback/email' }] },
    })
    t.equal((await send(gateway, [payload({ email })], lenient)).status, 201)
    t.match(gateway.rows('feedback')[0], { email: null, extra: { feedback: { email } } })
  },
)

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
    'a@b\nc',
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

t.test(
  'lenient: no effect on a valid or missing e-mail; an invalid payload is refused',
  async (t) => {
    const gateway = await startGateway(t)
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

t.test('503 when the attachment store or the queue fails; no object is left', async (t) => {
  const gateway = await startGateway(t)
  gateway.fail.put = new IntakeError('storage_unavailable', 'down')
  t.match(await send(gateway, [payload(), file(images.png)]), refusal(503, 'storage_unavailable'))
  gateway.fail.put = undefined
  gateway.fail.enqueue = new IntakeError('queue_unavailable', 'down')
  t.match(await send(gateway, [payload(), file(images.png)]), refusal(503, 'queue_unavailable'))
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

t.test('a different image under the same key is refused, and the first one is kept', async (t) => {
  const gateway = await startGateway(t)
  const id = '6f9619ff-8b86-4d01-b42d-00c04fc964ff'
  t.equal((await send(gateway, [payload({ id }), file(images.png)])).status, 201)
  const before = new Map(gateway.objects)
  t.match(
    await send(gateway, [payload({ id }), file(images.gif)]),
    refusal(422, 'idempotency_key_reused'),
  )
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
  t.match(reused, refusal(422, 'idempotency_key_reused'))
  t.equal(gateway.rows('feedback').length, 3)
})

for (const [status, code] of [
  [503, 'outcome_unknown'],
  [500, 'internal_error'],
] as const) {
  t.test(`${status} ${code}: the objects stay, because the row may exist`, async (t) => {
    const gateway = await startGateway(t)
    gateway.fail.enqueue = new IntakeError(code, 'no response')
    t.equal((await send(gateway, [payload(), file(images.png)])).status, status)
    t.equal(gateway.objects.size, 1)
  })
}

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
