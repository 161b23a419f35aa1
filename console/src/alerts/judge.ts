import type { Alert } from '@intake/access'

export type AlertState = 'ok' | 'firing' | 'unknown'

/** What was counted for an alert. */
export interface Found {
  /** Undefined if it could not be counted. */
  value: number | undefined
  /** What is usual; undefined if the alert does not ask for it, or if it is not known. */
  usual?: number | undefined
  /** Whether gateways have lately refused log events of the application: clients send them later. */
  wasRefused?: boolean
}

export interface Evaluated {
  alert: Alert
  state: AlertState
  found: Found
}

/**
 * Decides the state of an alert. While records are behind, counts are lower bounds, so only what
 * more records cannot change is certain. Everything else is unknown, so nobody is told of a silence
 * or a recovery that is none.
 *
 * @param isBehind whether records that arrived in the window may not be visible yet
 */
export function judge(
  { condition, threshold, unit }: Alert,
  { value, usual, wasRefused = false }: Found,
  isBehind: boolean,
): AlertState {
  if (value === undefined) return 'unknown'
  if (isBehind && unit === 'percent') return 'unknown'
  if (condition === 'below') {
    if (value >= threshold) return 'ok'
    return isBehind || wasRefused ? 'unknown' : 'firing'
  }
  if (condition === 'times' && usual === undefined) return 'unknown'
  // Where nothing is usual, a single event is not many times as much.
  if (value > threshold * Math.max(1, usual ?? 1)) return 'firing'
  return isBehind ? 'unknown' : 'ok'
}
