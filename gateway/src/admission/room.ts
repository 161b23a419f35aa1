import { IntakeError } from '@intake/contract'
import type { FleetCounter } from './fleet-counters.ts'

/**
 * Whether a counter may count this amount more. An amount above the limit has room while nothing is
 * counted.
 */
export function hasRoom(counter: FleetCounter, amount: number, max: number): boolean {
  const total = counter.total()
  return total < max && (total === 0 || total + amount <= max)
}

/** @throws {IntakeError} `rate_limited` */
export function requireRoom(
  counter: FleetCounter,
  amount: number,
  max: number,
  what: string,
): void {
  if (hasRoom(counter, amount, max)) return
  throw limited(`Too many ${what} with this API key.`, counter.msLeft())
}

export function limited(detail: string, msLeft: number): IntakeError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msLeft / 1_000))
  return new IntakeError('rate_limited', detail, { retryAfterSeconds })
}
