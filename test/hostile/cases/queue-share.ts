import { batchText, noise } from '../attack/bodies.ts'
import { flood } from '../attack/flood.ts'
import { hostileCase } from '../hostile-case.ts'

/** How long the attack goes on after its first refusal. Without a share it would fill the queue. */
const refusedMs = 15_000

export const queueShare = [
  hostileCase({
    id: 'q1',
    title: 'the queue’s share: batches that do not compress, while ClickHouse is frozen',
    // The attack ends by itself. A slow machine takes this long to fill half of Redis.
    attackMs: 180_000,
    sentMin: 40,
    whileClickHouseIsFrozen: true,
    attack(attacker) {
      const entries = Array.from({ length: 100 }, () =>
        JSON.stringify({ event: 'e', params: { a: noise(38_000) } }),
      )
      const body = batchText(entries.join(','))
      const ended = new AbortController()
      let timer: NodeJS.Timeout | undefined
      const signal = AbortSignal.any([attacker.signal, ended.signal])
      const traffic = {
        lanes: 5,
        path: '/api/log/batch',
        body: () => body,
        onStatus(status: number) {
          if (status === 503) timer ??= setTimeout(() => ended.abort(), refusedMs)
        },
      }
      return flood({ ...attacker, signal }, traffic).finally(() => clearTimeout(timer))
    },
    judge({ 207: accepted = 0, 503: unavailable = 0, broken, silent, lost }, expect) {
      expect(accepted > 0, 'it fills the queue')
      expect(unavailable > 0, 'it is refused')
      expect(broken + silent + lost === 0, 'every request has a definite response')
    },
  }),
]
