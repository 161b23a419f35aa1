import { isUuid, limits, timeOfUuidV7, type RecordKind } from '@intake/contract'
import { parseTime, timeForm } from '@intake/runtime'
import { PageError } from './page-error.ts'
import type { PeriodName } from './period.ts'

/** What a record must meet to be in a list; each text except `text` must equal its field. */
export interface Search {
  /** Part of the feedback's text or e-mail address; case is ignored. */
  text?: string
  application?: string
  version?: string
  event?: string
  user?: string
  device?: string
  /** Id of the API key that sent the record. */
  key?: string
  /** The keys are `params.` and a param of an event, or `extra.` and a field of a feedback. */
  paths?: Readonly<Record<string, string>>
  has?: 'pictures' | 'email'
  /** Selects only records with an empty version, or only events with an empty name. */
  without?: 'version' | 'event'
  from?: Date
  /** The end of the period, excluded. */
  to?: Date
  after?: Cursor
}

export type ListSearch = { [Name in keyof Search]?: Search[Name] | undefined } & {
  period?: PeriodName | undefined
}

export function withoutPeriod(search: Search): Search {
  const { after: _, from: __, to: ___, ...rest } = search
  return rest
}

export const stepAt = (fromMs: number, { stepMs }: { stepMs: number }): ListSearch => ({
  period: undefined,
  from: new Date(fromMs),
  to: new Date(fromMs + stepMs),
})

/** The next page begins after it. */
export interface Cursor {
  id: string
  device: string
  application: string
}

const pathPrefix = { logs: 'params.', feedback: 'extra.' } as const
const pathsMax = 5
/** The fields by which a list of each kind can be searched, besides applications, paths and times. */
const searchFields = {
  feedback: ['text', 'version', 'user', 'key', 'device', 'has', 'without'],
  logs: ['event', 'version', 'user', 'key', 'device', 'without'],
} as const satisfies Record<RecordKind, readonly (keyof Search)[]>
/** The limit is in UTF-16 units. An identifier has at most 255 characters of two units. */
export const searchLengthMax = 600

/** @throws {PageError} 400 */
export function readSearch(query: URLSearchParams, kind: RecordKind): Search {
  const fields = searchFields[kind].map((name) => [name, readField(query, name)] as const)
  const after = readExact(query, 'after')
  const { without, ...search }: ListSearch = {
    application: chosenApplication(query),
    ...Object.fromEntries(fields),
    paths: readPaths(query, pathPrefix[kind]),
    from: readTime(query, 'from'),
    to: readTime(query, 'to'),
    after: after === undefined ? undefined : readCursor(after),
  }
  if (without === 'event' && kind === 'feedback') throw new PageError(400, 'Feedback has no event.')
  // If the query string also gives a name for the field, the name takes precedence.
  const all = { ...search, without: without && search[without] === undefined ? without : undefined }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function readField(query: URLSearchParams, name: string): string | undefined {
  const value = ['text', 'device'].includes(name) ? readText(query, name) : readExact(query, name)
  if (value === undefined) return undefined
  if (name === 'device') return requireUuid(value, name)
  const allowed = { has: ['pictures', 'email'], without: ['version', 'event'] }[name]
  if (allowed === undefined || allowed.includes(value)) return value
  throw new PageError(400, `${name} must be ${allowed.join(' or ')}.`)
}

function readPaths(query: URLSearchParams, prefix: string): Search['paths'] {
  const names = [...new Set(query.keys())].filter((name) => name.startsWith(prefix))
  if (names.length > pathsMax)
    throw new PageError(
      400,
      `A search has at most ${pathsMax} conditions on ${prefix.slice(0, -1)}.`,
    )
  const paths: Record<string, string> = {}
  for (const name of names) {
    const value = readExact(query, name)
    if (value !== undefined && name !== prefix && name.length <= searchLengthMax)
      paths[name] = value
  }
  return Object.keys(paths).length > 0 ? paths : undefined
}

/** The name of an application in a path, without the `=` that `applicationPath` may have added. */
export const applicationOf = (segment: string): string => segment.replace(/^=/, '')

/**
 * That of the path, or `app`.
 *
 * @throws {PageError} 400
 */
export function chosenApplication(
  query: URLSearchParams,
  { application }: Readonly<Record<string, string>> = {},
): string | undefined {
  return application === undefined ? readExact(query, 'app') : applicationOf(application)
}

/** A longer link is not offered, so that no view becomes large by the names that clients send. */
const linkMax = 500
export const isShort = (href: string): boolean => href.length <= linkMax

export function printSearch(search: ListSearch): string {
  const { from, to, after, application: app, paths, ...texts } = search
  const entries = Object.entries({
    app,
    ...texts,
    ...paths,
    from: from && printTime(from),
    to: to && printTime(to),
    after: after && [after.id, after.device, after.application].join('.'),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  // A query string may contain colons: a document with a chart has a hundred of these links.
  return new URLSearchParams(entries).toString().replaceAll('%3A', ':')
}

/** A time in the shortest form that `parseTime` reads. */
const printTime = (time: Date): string => time.toISOString().replace(/(:00)?\.000Z$|Z$/, '')

export function readText(query: URLSearchParams, name: string): string | undefined {
  return readExact(query, name)?.trim() || undefined
}

/** @throws {PageError} 400 if it is given more than once or is too long */
export function readExact(query: URLSearchParams, name: string): string | undefined {
  const [text = '', ...others] = query.getAll(name)
  if (others.length > 0) throw new PageError(400, `${name} is given more than once.`)
  if (text.length > searchLengthMax)
    throw new PageError(400, `${name} is longer than ${searchLengthMax} characters.`)
  return text === '' ? undefined : text
}

/** @throws {PageError} 400 */
export function readPageNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '1'
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new PageError(400, `${name} must be the number of a page.`)
}

/** Reads a time: UTC if it has no offset. */
function readTime(query: URLSearchParams, name: string): Date | undefined {
  const text = readText(query, name)
  if (text === undefined) return undefined
  const time = parseTime(text)
  if (time === undefined) throw new PageError(400, `${name} must be ${timeForm}.`)
  return time
}

export function requireUuid(text: string, name: string): string {
  if (isUuid(text)) return text.toLowerCase()
  throw new PageError(400, `${name} must be a UUID.`)
}

/** @throws {PageError} 400 */
export function readCursor(text: string): Cursor {
  const [, id, device, application] = /^([^.]+)\.([^.]+)\.(.+)$/s.exec(text) ?? []
  const isComplete = id !== undefined && device !== undefined && application !== undefined
  if (!isComplete || timeOfId(id) === undefined)
    throw new PageError(400, 'after and open must be the place of a record in a list.')
  return { id: requireUuid(id, 'after'), device: requireUuid(device, 'after'), application }
}

/** Returns ms since 1970; undefined if no record can have such an id. */
export function timeOfId(id: string): number | undefined {
  const timeMs = timeOfUuidV7(id)
  const { after, before } = limits.recordTimeMs
  return id[14] === '7' && timeMs > after && timeMs < before ? timeMs : undefined
}
