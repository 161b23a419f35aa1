import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import { isoTime } from '@intake/clickhouse'
import { PageError } from './page-error.ts'

/** Every part of a view prints times, so the zone belongs to the request. */
const current = new AsyncLocalStorage<string>()
export const inZone = current.run.bind(current)
export const zoneName = (): string => current.getStore() ?? 'UTC'

const cookie = /(?:^|;\s*)tz=([\w/+-]{1,60})/
const cookieSeconds = 365 * 24 * 3_600

/**
 * The reader's zone: `tz` in the query string, or in the cookie that it sets.
 *
 * @returns `cookie`: the header to set if the reader has just chosen the zone
 * @throws {PageError} 400 if there is no such zone
 */
export function readZone(
  query: URLSearchParams,
  { headers }: IncomingMessage,
): { zone: string; cookie?: string } {
  const chosen = query.get('tz')
  if (chosen === null) {
    const [, kept = ''] = cookie.exec(headers.cookie ?? '') ?? []
    return { zone: known(kept) ?? 'UTC' }
  }
  const zone = known(chosen.trim() || 'UTC')
  if (zone === undefined)
    throw new PageError(400, 'tz must be the name of a time zone, such as Europe/Berlin.')
  const attributes = `Path=/; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax`
  return { zone, cookie: `tz=${zone}; ${attributes}` }
}

function known(name: string): string | undefined {
  if (!/^[\w+-]+(?:\/[\w+-]+)*$/.test(name)) return undefined
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone === 'UTC' ? timeZone : name
  } catch {
    return undefined
  }
}

/** A time in the reader's zone, `YYYY-MM-DD hh:mm:ss.mmm`; its first 10 characters are the date. */
export function localTime(time: number | string): string {
  const ms = typeof time === 'number' ? time : Date.parse(isoTime(time))
  if (zoneName() === 'UTC') return new Date(ms).toISOString().slice(0, 23).replace('T', ' ')
  const format = { timeZone: zoneName(), dateStyle: 'short', timeStyle: 'medium' } as const
  // Swedish times have the form of ISO 8601.
  const printed = new Intl.DateTimeFormat('sv', format).format(ms)
  return `${printed}.${String(ms % 1_000).padStart(3, '0')}`
}

export function zoneLabel(ms: number): string {
  const format = { timeZone: zoneName(), timeZoneName: 'longOffset' } as const
  const parts = new Intl.DateTimeFormat('en', format).formatToParts(ms)
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  return offset.replace(/^GMT(?:\+00:00)?/, 'UTC').replace('-', '−')
}

export function clockTime(ms: number): string {
  const printed = localTime(ms).slice(0, 19)
  const isToday = printed.slice(0, 10) === localTime(Date.now()).slice(0, 10)
  return isToday ? printed.slice(11) : printed
}
