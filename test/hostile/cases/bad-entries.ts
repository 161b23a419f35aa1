import { batchText, list } from '../attack/bodies.ts'
import { createTally, exchange } from '../attack/exchange.ts'
import { json, request } from '../attack/http-text.ts'
import { repeat } from '../attack/loops.ts'
import { hostileCase } from '../hostile-case.ts'

const entries = 500
/** At most this many of the rejected entries in a response have details of their errors. */
const detailedMax = 10

interface EntryResult {
  status?: string
  code?: string
  detail?: string
  errors?: unknown[]
}

export const badEntries = [
  hostileCase({
    id: 'h1',
    title: 'one key: batches of 1.1 KB with 500 bad entries, four at a time',
    async attack(attacker) {
      const { tally, start, end } = createTally()
      const seen = { bytesMax: 0, detailedMax: 0, withoutCode: 0 }
      const headers = { ...json, 'x-api-key': attacker.apiKey, connection: 'close' }
      const bytes = request('POST /api/log/batch', headers, batchText(list('0', 2 * entries)))
      await repeat({ lanes: 4, pauseMs: 50, signal: attacker.signal }, async () => {
        start()
        const response = await exchange(attacker, bytes)
        end(response)
        if (response.status !== 207) return
        const { results } = JSON.parse(response.body) as { results: EntryResult[] }
        const detailed = results.filter(({ detail, errors }) => detail ?? errors)
        const bare = results.filter(({ status, code }) => status !== 'rejected' || !code)
        seen.bytesMax = Math.max(seen.bytesMax, response.body.length)
        seen.detailedMax = Math.max(seen.detailedMax, detailed.length)
        seen.withoutCode += bare.length
      })
      return { ...tally, ...seen }
    },
    judge(seen, expect) {
      expect(seen.accepted > 0, 'there are results')
      expect(seen.bytesMax <= 60_000, `a response has at most 60 KB (${seen.bytesMax})`)
      expect(
        seen.detailedMax <= detailedMax,
        `at most ten entries have details (${seen.detailedMax})`,
      )
      expect(
        seen.withoutCode === 0,
        `every entry has status and code (${seen.withoutCode} lack it)`,
      )
    },
  }),
]
