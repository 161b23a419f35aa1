import t from 'tap'
import { createKnownCrashes } from '../../src/alerts/known-crashes.ts'

t.test('crashes that an application makes up are not remembered, but counted', async (t) => {
  let remembered = 0
  const newCrashes = createKnownCrashes({
    async query<Row>(sql: string) {
      if (sql.includes('count()')) return [{ crashes: 3, latest: 'one' }] as Row[]
      if (sql.includes('AS example')) return [{ example: 'trace' }] as Row[]
      remembered++
      const at = '2026-11-29 00:00:00.000'
      return Array.from({ length: 20_001 }, (_, n) => ({ fingerprint: String(n), at })) as Row[]
    },
  })
  const newIn = () => newCrashes({ bundle: 'com.flood', minutes: 60 }, Date.UTC(2026, 10, 29, 1))
  t.same(await newIn(), { value: 3, detail: 'trace' })
  t.same(await newIn(), { value: 3, detail: 'trace' })
  t.equal(remembered, 1)
})
