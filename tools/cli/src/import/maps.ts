import { readFile } from 'node:fs/promises'
import { documentedDeviceFields } from '@intake/contract'
import { tryJson } from '@intake/runtime'
import { parseRecord } from '@intake/sandbox'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { UsageError } from '../endpoints.ts'
import {
  objectOf,
  RejectedError,
  requireText,
  requireTimeMs,
  textAt,
  UnwantedError,
  type SourceEvent,
} from './source-event.ts'
import type { SourceRow } from './read-rows.ts'

export interface SourceMap {
  format: 'json' | 'csv'
  /**
   * @throws {RejectedError | IntakeError} if the row is no event
   * @throws {UsageError} if the file lacks a column
   */
  read: (row: SourceRow) => SourceEvent
}

/**
 * The paths of what a source calls otherwise, in the order of preference. Batch exports of PostHog
 * have the properties as a text of JSON.
 */
const postHog = {
  id: ['uuid'],
  time: ['timestamp'],
  user: ['distinct_id'],
  device: ['properties.$device_id', 'distinct_id'],
  deviceFields: {
    os: 'properties.$os',
    device_model: 'properties.$device_model',
    manufacturer: 'properties.$device_manufacturer',
    version_name: 'properties.$app_version',
  },
}

const segment: typeof postHog = {
  id: ['messageId', 'message_id'],
  time: ['timestamp', 'originalTimestamp', 'receivedAt'],
  user: ['userId', 'anonymousId'],
  device: ['anonymousId', 'context.device.id', 'userId'],
  deviceFields: {
    os: 'context.os.name',
    device_model: 'context.device.model',
    manufacturer: 'context.device.manufacturer',
    version_name: 'context.app.version',
  },
}

/** @throws {UsageError} if the map is unknown, or if the file of a CSV map is wrong */
export async function findMap(name: string): Promise<SourceMap> {
  if (name.startsWith('csv:')) return { format: 'csv', read: await readCsvMap(name.slice(4)) }
  if (name === 'posthog') return { format: 'json', read: readPostHog }
  if (name === 'segment') return { format: 'json', read: readSegment }
  throw new UsageError('Give --map posthog, segment or csv:FILE.')
}

function readPostHog({ text }: SourceRow): SourceEvent {
  const { properties, ...event } = objectOf(parseRecord(text))
  const parsed = typeof properties === 'string' ? parseRecord(properties) : properties
  return readPlaces(postHog, { ...event, properties: parsed })
}

function readSegment({ text }: SourceRow): SourceEvent {
  const call = objectOf(parseRecord(text))
  const type = textAt(call, 'type') ?? 'track'
  if (type === 'track') return readPlaces(segment, call)
  if (type !== 'screen' && type !== 'page') {
    throw new UnwantedError('it is neither track, screen nor page')
  }
  const title = textAt(call, 'name')
  const named = title === undefined ? {} : { name: title }
  const properties = { ...named, ...objectOf(call['properties']) }
  return readPlaces(segment, { ...call, event: type, properties })
}

function readPlaces(places: typeof postHog, row: Record<string, unknown>): SourceEvent {
  return {
    id: textAt(row, ...places.id),
    event: requireText(textAt(row, 'event'), 'event'),
    timeMs: requireTimeMs(textAt(row, ...places.time)),
    user: textAt(row, ...places.user),
    device: textAt(row, ...places.device),
    params: objectOf(row['properties']),
    deviceFields: mapPresent(places.deviceFields, (path) => textAt(row, path)),
  }
}

/** Columns of CSV by what they are; a text after `=` is a constant. */
const CsvMap = Type.Object(
  {
    event: Type.String(),
    time: Type.String(),
    id: Type.Optional(Type.String()),
    user: Type.Optional(Type.String()),
    device: Type.Optional(Type.String()),
    /** By the name of the param; a column with `:number` becomes a number. */
    params: Type.Optional(Type.Record(Type.String(), Type.String())),
    device_fields: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)

/** A double would not have all digits of a large integer. */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

async function readCsvMap(path: string): Promise<SourceMap['read']> {
  const map = parseCsvMap(await readFile(path, 'utf8'), path)
  return ({ header, cells }) => {
    if (cells.slice(header.length).some((cell) => cell.trim() !== ''))
      throw new RejectedError('it has more cells than the header')
    const at = (column: string | undefined) => {
      if (column === undefined) return undefined
      if (column.startsWith('=')) return column.slice(1)
      const name = column.trim()
      const place = header.indexOf(name)
      if (place === -1) {
        const names = header.join(', ').slice(0, 500)
        throw new UsageError(`There is no column ${name}. The file has: ${names}`)
      }
      if (header.includes(name, place + 1))
        throw new UsageError(`Several columns are named ${name}.`)
      return cells[place] || undefined
    }
    const paramAt = (column: string) => {
      const [, name, isNumber] = /^(.*?)(:number)?$/s.exec(column) ?? []
      const text = at(name)
      if (isNumber === undefined || text === undefined) return text
      if (numberForm.test(text.trim())) return parseRecord(text)
      throw new RejectedError(`${name} is no number`)
    }
    return {
      id: at(map.id),
      event: requireText(at(map.event), 'event'),
      timeMs: requireTimeMs(at(map.time)),
      user: at(map.user),
      device: at(map.device ?? map.user),
      params: mapPresent(map.params ?? {}, paramAt),
      deviceFields: mapPresent(map.device_fields ?? {}, at),
    }
  }
}

function parseCsvMap(text: string, path: string): Static<typeof CsvMap> {
  const map = tryJson(text.replace(/^\uFEFF/, ''))
  if (map === undefined) throw new UsageError(`${path} is no JSON.`)
  if (!Value.Check(CsvMap, map)) {
    const [fault] = Value.Errors(CsvMap, map)
    const problem = fault?.keyword === 'boolean' ? 'is not known' : fault?.message
    throw new UsageError(`${path}: ${fault?.instancePath || 'it'} ${problem}.`)
  }
  const fields = Object.keys(map.device_fields ?? {})
  const unknown = fields.find((name) => !documentedDeviceFields.has(name))
  if (unknown !== undefined) throw new UsageError(`${path}: there is no device field ${unknown}.`)
  return map
}

/** Reads what each name stands for, and leaves out what the source does not have. */
function mapPresent(
  names: Record<string, string>,
  read: (source: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(names).map(([name, source]) => [name, read(source)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
