import type { Tally } from '../attack/exchange.ts'
import { flood } from '../attack/flood.ts'
import type { Attacker, Expect } from '../hostile-case.ts'

export const gzipped = { 'content-encoding': 'gzip' }
/** The smallest entry of a batch. */
export const entry = '{"event":"a"}'

/** Sends the same body repeatedly. */
export const same =
  (options: {
    lanes: number
    path: string
    body: () => Buffer | string
    headers?: Record<string, string>
    pauseMs?: number
  }) =>
  (attacker: Attacker) => {
    const body = options.body()
    return flood(attacker, { ...options, body: () => body })
  }

/** Every request must have a documented response. */
export function judge(
  { broken, silent, accepted, refused, unavailable, throttled }: Tally,
  expect: Expect,
) {
  expect(broken === 0, `no 500 (${broken})`)
  expect(silent === 0, `every request has a response (${silent} have none)`)
  expect(accepted + refused + unavailable + throttled > 0, 'there are responses')
}
