import t from 'tap'
import { dayMs, timeOfUuidV7 } from '@intake/contract'
import {
  createIdentity,
  deriveIdentity,
  isoTime,
  isUuidV7,
  parseIdentity,
} from '../src/identity.ts'

const at = Date.parse('2026-11-21T06:30:00.007Z')

t.test('an identity is a UUIDv7 and the time in it', async (t) => {
  const { id, time } = createIdentity(at)
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(timeOfUuidV7(id), at)
  t.equal(time, '2026-11-21T06:30:00.007Z')
})

t.test('identities of the same moment differ', async (t) => {
  const ids = Array.from({ length: 10_000 }, () => createIdentity(at).id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('the time of an existing id is read from it', async (t) => {
  const id = '019aa5e6-5c40-7abc-8def-0123456789ab'
  t.same(parseIdentity(id), { id, time: new Date(0x019a_a5e6_5c40).toISOString() })
  t.not(createIdentity(at).time, parseIdentity(id).time)
})

t.test('a derived identity depends on request, position and time, and only on them', async (t) => {
  const request = createIdentity(at)
  const derived = deriveIdentity(request, 3, at + 1)
  t.ok(isUuidV7(derived.id))
  t.same(derived, parseIdentity(derived.id))
  t.equal(derived.time, '2026-11-21T06:30:00.008Z')
  t.same(deriveIdentity(request, 3, at + 1), derived)
  const others = [
    deriveIdentity(createIdentity(at), 3, at + 1),
    deriveIdentity(request, 4, at + 1),
    deriveIdentity(request, 3, at),
  ]
  for (const other of others) t.not(other.id, derived.id)
})

t.test('a UUIDv7 is distinguished from other UUIDs by version and variant', async (t) => {
  t.ok(isUuidV7('019aa5e6-5c40-7abc-8def-0123456789ab'))
  t.notOk(isUuidV7('019aa5e6-5c40-4abc-8def-0123456789ab'))
  t.notOk(isUuidV7('019aa5e6-5c40-7abc-cdef-0123456789ab'))
})

t.test('a time is printed as toISOString prints it', async (t) => {
  const times = [
    0,
    1,
    dayMs - 1,
    dayMs,
    at,
    at + 0.7,
    2 ** 48 - 1,
    Date.UTC(2_024, 1, 29, 23, 59, 59, 999),
  ]
  for (let n = 0; n < 10_000; n++) times.push(Math.floor(Math.random() * 2 ** 48))
  const wrong = times.filter((timeMs) => isoTime(timeMs) !== new Date(timeMs).toISOString())
  t.same(wrong, [])
  t.throws(() => isoTime(NaN), RangeError)
  t.throws(() => isoTime(9e15), RangeError)
})
