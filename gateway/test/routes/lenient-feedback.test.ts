import t from 'tap'
import { images, startGateway } from '../support.ts'
import { file, payload, send, type Part, lenient, refusal } from '../forms.ts'

t.test('lenient: an invalid e-mail is kept in extra, and the feedback is accepted', async (t) => {
  for (const email of ['nobody at example.com', 7, { at: 'example.com' }]) {
    const gateway = await startGateway(t)
    const parts = [payload({ email, topic: 'a' })]
    t.match(await send(gateway, parts), refusal(400, 'invalid_request'))
    const { status, body } = await send(gateway, parts, lenient)
    t.equal(status, 201)
    t.match(body.invalid_fields, [
      { pointer: '/payload/feedback/email', detail: 'must be an e-mail address' },
    ])
    const extra = { feedback: { email, topic: 'a' } }
    t.match(gateway.rows('feedback'), [{ email: null, text: 'It broke.', extra }])
  }
})

t.test('lenient: a form with forty images keeps its text and four of them', async (t) => {
  const gateway = await startGateway(t)
  const forty = Array.from({ length: 40 }, () => file(images.png))
  const { status, body } = await send(gateway, [payload(), ...forty], lenient)
  t.equal(status, 201)
  t.match(body['attachments'], [{ status: 'stored' }, {}, {}, {}, { code: 'too_many_attachments' }])
  t.equal(gateway.objects.size, 4)
})

t.test('lenient: files beyond the limit of a form are skipped; the text is kept', async (t) => {
  const gateway = await startGateway(t)
  const image = (bytes: number) => file(Buffer.concat([images.png, Buffer.alloc(bytes)]))
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

t.test(
  '201 with Prefer: handling=lenient: invalid attachments are left out, with the reason',
  async (t) => {
    const gateway = await startGateway(t)
    const parts = [payload(), file('text'), ...Array.from({ length: 4 }, () => file(images.png))]
    const { status, body } = await send(gateway, parts, lenient)
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
