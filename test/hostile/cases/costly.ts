import type { Tally } from '../attack/exchange.ts'
import { flood } from '../attack/flood.ts'
import { hostileCase, type HostileCase } from '../hostile-case.ts'

/** The smallest entry of a batch. */
export const entry = '{"event":"a"}'

interface Traffic {
  lanes: number
  pauseMs?: number
  path: '/api/log' | '/api/log/batch'
  /** The body of the next request. A buffer is sent as gzip. */
  body: () => Buffer | string
  /** True if each request gets a new body; otherwise all requests get the same body. */
  isFresh?: boolean
}

/**
 * A case in which one key sends costly requests. No request may get a 5xx other than 503, wait for
 * its response until the timeout of the client, or lose its connection without a response.
 */
export function costly(
  definition: Omit<HostileCase<Tally>, 'attack' | 'judge'> & Traffic,
): HostileCase {
  const { lanes, pauseMs = 0, path, body, isFresh = false, ...about } = definition
  return hostileCase({
    ...about,
    attack(attacker) {
      const first = body()
      const headers = typeof first === 'string' ? {} : { 'content-encoding': 'gzip' }
      return flood(attacker, { lanes, pauseMs, path, headers, body: isFresh ? body : () => first })
    },
    judge({ broken, silent, lost, accepted, refused, unavailable, throttled }, expect) {
      expect(broken === 0, `no 500 (${broken})`)
      expect(silent === 0, `every request has a response (${silent} have none)`)
      expect(lost === 0, `no connection closes without a response (${lost})`)
      expect(accepted + refused + unavailable + throttled > 0, 'there are responses')
    },
  })
}
