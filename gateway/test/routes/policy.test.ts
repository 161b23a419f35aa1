import { randomUUID } from 'node:crypto'
import t from 'tap'
import { dayMs } from '@intake/contract'
import { batch, send as sendBatch } from '../batches.ts'
import { file, payload, send as sendForm, refusal } from '../forms.ts'
import { createIdentity } from '@intake/identity'
import { images, logBody, sendKeyed, startGateway, countsOf } from '../support.ts'

const isSuppressed = ({ unique_user_id }: { unique_user_id: string }) => unique_user_id === 'user-1'

t.test('201: a suppressed sender is acknowledged as usual, and nothing is stored', async (t) => {
  const gateway = await startGateway(t, { policy: { isSuppressed } })
  const own = createIdentity(Date.now()).id
  t.match(await sendKeyed(gateway, logBody({ id: own })), { status: 201, body: { id: own } })
  const first = await sendKeyed(gateway, logBody(), 'key')
  t.equal(first.status, 201)
  t.equal((await sendKeyed(gateway, logBody(), 'key')).body.id, first.body.id)
  t.match(await sendForm(gateway, [payload(), file(images.png)]), {
    status: 201,
    body: { attachments: [{ status: 'stored' }] },
  })
  const response = await sendBatch(gateway, batch([{ event: 'a' }, { event: 'b' }]))
  t.match(response.json(), { accepted: 2, rejected: 0 })
  t.same([gateway.frames.logs, gateway.frames.feedback], [[], []])
  t.equal(gateway.objects.size, 0)
  const found = countsOf(gateway, ({ kind, code }) => `${kind} ${code}`)
  t.same(found, ['logs suppressed: 5', 'feedback suppressed: 1'])

  t.equal((await sendKeyed(gateway, logBody({}, { unique_user_id: 'user-2' }))).status, 201)
  t.equal(gateway.rows('logs').length, 1, 'others are stored')
})

t.test('201: nothing is stored of a user whose id is stored like a suppressed one', async (t) => {
  const names = { bundle_identifier: 'com.a\ufffd', unique_user_id: 'bob\ufffd' }
  const gateway = await startGateway(t, {
    policy: {
      isSuppressed: ({ bundle_identifier: bundle, unique_user_id: user }) =>
        bundle === names.bundle_identifier && user === names.unique_user_id,
    },
  })
  for (const lone of ['\ud800', '\udfff', '\ufffd']) {
    const sender = { bundle_identifier: `com.a${lone}`, unique_user_id: `bob${lone}` }
    t.equal((await sendKeyed(gateway, logBody({}, sender))).status, 201)
    t.match((await sendBatch(gateway, batch([{ event: 'a' }], sender))).json(), { accepted: 1 })
    t.match(await sendForm(gateway, [payload({}, sender), file(images.png)]), { status: 201 })
  }
  t.same([gateway.frames.logs, gateway.frames.feedback, gateway.objects.size], [[], [], 0])
})

t.test('422: the age of an id is said in days, also after months were dropped', async (t) => {
  const gateway = await startGateway(t, { policy: { retentionMs: () => 17.6042 * dayMs } })
  const old = createIdentity(Date.now() - 18 * dayMs).id
  const { body } = await sendKeyed(gateway, logBody({ id: old }))
  t.match(body, { detail: /within 17\.6 days/ })
})

t.test('422: an id that is older than records are kept', async (t) => {
  const gateway = await startGateway(t, { policy: { retentionMs: () => 7 * dayMs } })
  const old = createIdentity(Date.now() - 8 * dayMs).id
  const refused = await sendKeyed(gateway, logBody({ id: old }))
  t.match(refused, { status: 422, body: { code: 'id_time_out_of_range', detail: /within 7 days/ } })
  const recent = createIdentity(Date.now() - 6 * dayMs).id
  t.equal((await sendKeyed(gateway, logBody({ id: recent }))).status, 201)
  const response = await sendBatch(
    gateway,
    batch([
      { event: 'old', id: old },
      { event: 'recent', id: recent },
    ]),
  )
  t.match(response.json(), { results: [{ code: 'id_time_out_of_range' }, { status: 'accepted' }] })
})

t.test('201: a timestamp that is older than records are kept is not believed', async (t) => {
  const gateway = await startGateway(t, { policy: { retentionMs: () => 7 * dayMs } })
  const timestamp = new Date(Date.now() - 8 * dayMs).toISOString()
  t.equal((await sendKeyed(gateway, logBody({ timestamp }))).status, 201)
  const [row] = gateway.rows('logs')
  t.ok(Date.parse(String(row?.['time'])) > Date.now() - dayMs)
})

t.test('422: a key whose first record may have been dropped', async (t) => {
  let retentionMs: number | undefined
  const gateway = await startGateway(t, { policy: { retentionMs: () => retentionMs } })
  const timestamp = new Date(Date.now() - 8 * dayMs).toISOString()
  const id = randomUUID()
  t.equal((await sendKeyed(gateway, logBody({ timestamp, id }))).status, 201)
  retentionMs = 7 * dayMs
  const again = await sendKeyed(gateway, logBody({ timestamp, id }))
  t.match(again, refusal(422, 'id_time_out_of_range'))
  t.equal(gateway.rows('logs').length, 1)
})
