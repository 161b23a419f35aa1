import type { SweepClock } from '@intake/http-edge'
import { secret } from './support.ts'

export { open, received } from '@intake/test-kit/raw-client'

/**
 * Returns the head of a `POST` with the test's API key.
 *
 * @param more further header lines
 */
export function post(path: string, more: string[] = [], key = secret): string {
  const lines = [`POST ${path} HTTP/1.1`, 'host: x', `x-api-key: ${key}`, ...more, '', '']
  return lines.join('\r\n')
}

export const json = 'content-type: application/json'

/**
 * Creates a clock for connection sweeps: there is a sweep every 5 ms, and at each sweep the clock
 * shows one second more.
 */
export function fastClock(): SweepClock {
  let now = 0
  return { now: () => (now += 1_000), intervalMs: 5 }
}
