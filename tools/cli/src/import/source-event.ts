import { parseTime } from '@intake/runtime'

/** An event of another system, in Intake's terms. */
export interface SourceEvent {
  /** What identifies it in its source; undefined: its line. */
  id: string | undefined
  event: string
  timeMs: number
  user: string | undefined
  device: string | undefined
  params: Record<string, unknown>
  deviceFields: Record<string, unknown>
}

/** A line cannot be imported. The message is for an operator. */
export class RejectedError extends Error {
  override name = 'RejectedError'
}

/** The line is what the map expects, but it cannot be kept: too old, or of another kind. */
export class UnwantedError extends RejectedError {}

/** Returns the text under one of these paths, the first that has one. */
export function textAt(value: unknown, ...paths: string[]): string | undefined {
  for (const path of paths) {
    const found = path.split('.').reduce(memberOf, value)
    if (typeof found === 'string' && found !== '') return found
    if (typeof found === 'number' || typeof found === 'bigint') return String(found)
  }
  return undefined
}

const memberOf = (value: unknown, name: string): unknown => objectOf(value)[name]

/** Returns the value if it is an object, otherwise an empty one. */
export const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}

export function requireText(text: string | undefined, what: string): string {
  if (text === undefined) throw new RejectedError(`it has no ${what}`)
  return text
}

/** Reads ISO 8601, in UTC without an offset, or seconds or milliseconds since 1970. */
export function requireTimeMs(text: string | undefined): number {
  const time = requireText(text, 'time').trim()
  if (/^\d{9,10}(?:\.\d+)?$/.test(time)) return Math.round(Number(time) * 1_000)
  if (/^\d{12,13}$/.test(time)) return Number(time)
  const iso = time
    .replace(/(\.\d{3})\d+/, '$1')
    .replace(/(:[\d.]+[+-]\d\d)(\d\d)?$/, (_, start, minutes = '00') => `${start}:${minutes}`)
  const timeMs = parseTime(iso)?.getTime()
  if (timeMs === undefined)
    throw new RejectedError('its time is not ISO 8601, nor seconds or milliseconds since 1970')
  return timeMs
}
