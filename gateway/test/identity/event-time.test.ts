import t from 'tap'
import { createIdentity } from '@intake/identity'
import { eventTimeMs, requireIdInWindow } from '../../src/identity/assign-identity.ts'

const now = Date.parse('2026-11-21T06:30:00.000Z')
const minute = 60_000
const day = 24 * 60 * minute
const believed = [0, 10 * minute, -30 * day]
const notBelieved = [10 * minute + 1, -30 * day - 1, 365 * day, -now]

t.test('the time of an event is that of the device, if close enough to the arrival', async (t) => {
  for (const off of believed)
    t.equal(eventTimeMs(new Date(now + off).toISOString(), now), now + off)
  for (const off of notBelieved) t.equal(eventTimeMs(new Date(now + off).toISOString(), now), now)
  t.equal(eventTimeMs(undefined, now), now)
  t.equal(eventTimeMs(null, now), now)
})

t.test('an id outside the allowed period is refused, with the time of the server', async (t) => {
  for (const off of believed)
    t.doesNotThrow(() => requireIdInWindow(createIdentity(now + off).id, now))
  for (const off of notBelieved) {
    t.throws(() => requireIdInWindow(createIdentity(now + off).id, now), {
      code: 'id_time_out_of_range',
      members: { server_time: '2026-11-21T06:30:00.000Z' },
    })
  }
})
