import t from 'tap'
import { createKnownCrashes } from '../../src/alerts/known-crashes.ts'

t.test('an application that makes up crashes is refused, and not read again', async (t) => {
  let queries = 0
  const newCrashes = createKnownCrashes({
    async query<Row>() {
      queries++
      const at = '2026-11-29 00:00:00.000'
      return Array.from({ length: 20_001 }, (_, n) => ({ fingerprint: String(n), at })) as Row[]
    },
  })
  const newIn = () => newCrashes({ bundle: 'com.flood', minutes: 60 }, Date.UTC(2026, 10, 29, 1))
  await t.rejects(newIn(), { message: 'com.flood has more than 20000 different crashes' })
  await t.rejects(newIn(), { message: /more than 20000/ })
  t.equal(queries, 1)
})
