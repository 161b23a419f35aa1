import { rowJson } from '@intake/json'
import fc from 'fast-check'
import t from 'tap'
import { makeWellFormed } from '../../src/accept/acceptance.ts'

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\ud800', '\udfff', '\ufffd', '👩', 'é', 'a'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  ),
})

t.test('identifiers are what their row will have', async (t) => {
  fc.assert(
    fc.property(text, text, (bundle, user) => {
      const sender = {
        bundle_identifier: bundle,
        device: {},
        device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-0123456789ab',
        unique_user_id: user,
      }
      const stored = JSON.parse(rowJson({ bundle, user })) as { bundle: string; user: string }
      makeWellFormed(sender)
      t.equal(sender.bundle_identifier, stored.bundle)
      t.equal(sender.unique_user_id, stored.user)
    }),
  )
})
