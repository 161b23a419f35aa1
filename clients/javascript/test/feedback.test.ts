import t from 'tap'
import { answerOf } from './fake-intake.ts'
import { createHost } from './host.ts'

const isPicture = (value: unknown) => (value === 'picture' ? value : undefined)

t.test('a feedback that never gets a response does not block the others', async (t) => {
  const host = createHost()
  const send = host.server.transport
  host.server.transport = async (request) => {
    const { payload } = request.body as { payload: string }
    if (payload.includes('poison')) throw new Error('no response')
    return send(request)
  }
  const client = host.start()
  await client.feedback({ text: 'poison' })
  for (const text of ['a', 'b']) await client.feedback({ text })
  await host.time.advance(60_000)
  const texts = host.server.feedback.map(({ payload }) => JSON.parse(payload).feedback.text)
  t.same(texts, ['a', 'b'])
  t.equal(client.stats().pending.feedback, 1)
})

t.test('a feedback that cannot be read does not block the others', async (t) => {
  const host = createHost()
  const { storage } = host
  const client = host.start(
    {},
    {
      storage: {
        ...storage,
        get: async (key) => {
          const value = await storage.get(key)
          if (JSON.stringify(value)?.includes('poison')) throw new Error('cannot be read')
          return value
        },
      },
    },
  )
  await client.feedback({ text: 'poison' })
  await client.feedback({ text: 'a' })
  await host.time.advance(60_000)
  t.equal(host.server.feedback.length, 1)
})

t.test('what is no image costs itself only, and is counted', async (t) => {
  const host = createHost()
  const client = host.start({}, { keepAttachment: isPicture })
  await client.feedback({ text: 'a', attachments: [null, 'picture', {}] })
  await client.feedback({ text: 'b', attachments: 'picture' as never })
  await host.time.advance(60_000)
  const images = host.server.feedback.map(({ attachments }) => attachments)
  t.same(images, [['picture'], ['picture']])
  t.same(client.stats().dropped, { invalid_attachment: 2 })
})

t.test('an image that the server leaves out is counted with its code', async (t) => {
  const host = createHost()
  const attachments = [
    { status: 'rejected', code: 'attachment_too_large' },
    { status: 'stored', bytes: 70 },
    null,
    { status: 'rejected' },
  ]
  host.server.transport = async () => answerOf(201, { id: 'x', attachments })
  const client = host.start()
  await client.feedback({ text: 'a', attachments: [1, 2, 3, 4] })
  await host.time.advance(60_000)
  t.same(client.stats().dropped, { attachment_too_large: 1, unknown: 2 })
  t.equal(client.stats().pending.feedback, 0)
})

t.test('the images of a form that is too large are counted once', async (t) => {
  const host = createHost()
  const send = host.server.transport
  let isDown = true
  host.server.transport = async (request) => {
    const { attachments } = request.body as { attachments: unknown[] }
    if (attachments.length > 0) return answerOf(413, { code: 'body_too_large' })
    if (!isDown) return send(request)
    isDown = false
    throw new Error('no response')
  }
  const client = host.start()
  await client.feedback({ text: 'a', attachments: ['picture'] })
  await host.time.advance(60_000)
  t.equal(host.server.feedback.length, 1)
  t.same(client.stats().dropped, { body_too_large: 1 })
})

t.test('other fields of a feedback are sent, too', async (t) => {
  const host = createHost()
  const client = host.start()
  const given = { rating: 5, category: new String('bug'), size: 1n, id: 'x', email: 7 }
  const { id } = await client.feedback({ text: 'Good', ...given } as never)
  await host.time.advance(1000)
  const { feedback } = JSON.parse(host.server.feedback[0]!.payload)
  t.match(feedback, { id, text: 'Good', email: '7', rating: 5, category: 'bug', size: '1' })
  t.same(feedback.attachments, [])
})

t.test('a feedback that is not kept says why', async (t) => {
  const host = createHost()
  const client = host.start()
  for (const wrong of [{ rating: 5 }, { text: '' }, 'text', undefined])
    t.match(await client.feedback(wrong as never), { isKept: false, reason: 'invalid_feedback' })
  t.same(client.stats().dropped, { invalid_feedback: 4 })
  t.same(Object.keys(await client.feedback({ text: 'Good' })), ['id', 'isKept'])
  await client.optOut()
  t.match(await client.feedback({ text: 'Good' }), { isKept: false, reason: 'off' })
  t.same(client.stats().dropped, { invalid_feedback: 4 })
})
