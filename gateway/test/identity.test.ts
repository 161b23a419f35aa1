import t from 'tap'
import { createIdentity, identityOf } from '../src/identity.ts'

t.test('an identity is a UUIDv7 and the time inside it', async (t) => {
  const before = Date.now()
  const { id, receivedAt } = createIdentity()
  const after = Date.now()
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const time = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  t.ok(before <= time && time <= after, 'it was made now')
  t.equal(receivedAt, new Date(time).toISOString())
})

t.test('identities of the same moment differ', async (t) => {
  const ids = Array.from({ length: 10_000 }, () => createIdentity().id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('an identity follows the clock, also backwards', async (t) => {
  const now = Date.now
  t.teardown(() => (Date.now = now))
  for (const at of ['2026-11-21T06:30:00.007Z', '2026-11-21T06:29:59.999Z']) {
    Date.now = () => Date.parse(at)
    const identity = createIdentity()
    t.equal(identity.receivedAt, at)
    t.same(identityOf(identity.id), identity)
  }
})

t.test('the time of an id that was given before is found in it', async (t) => {
  const id = '019aa5e6-5c40-7abc-8def-0123456789ab'
  t.same(identityOf(id), { id, receivedAt: new Date(0x019a_a5e6_5c40).toISOString() })
  t.not(createIdentity().receivedAt, identityOf(id).receivedAt)
})
