import { readFile } from 'node:fs/promises'
import { documentedDeviceFields } from '@intake/contract'
import { UsageError } from '../endpoints.ts'
import {
  isObject,
  memberOf,
  present,
  RejectedError,
  requireText,
  requireTimeMs,
  textAt,
  type ReadEvent,
} from './source-event.ts'

/** How a kind of file is read. */
export interface SourceMap {
  format: 'json' | 'csv'
  read: ReadEvent
}

/**
 * Returns the map for an option.
 *
 * @param parse parses JSON
 * @throws {UsageError} if it is unknown, or if the file of a CSV map is wrong
 */
export async function findMap(name: string, parse: (text: string) => unknown): Promise<SourceMap> {
  if (name === 'posthog') return { format: 'json', read: readPostHog(parse) }
  if (name === 'segment') return { format: 'json', read: readSegment }
  if (name.startsWith('csv:')) return { format: 'csv', read: await readCsvMap(name.slice(4)) }
  throw new UsageError('Give --map posthog, segment or csv:FILE.')
}

/** Events as PostHog exports them. Batch exports have the properties as a text of JSON. */
const readPostHog =
  (parse: (text: string) => unknown): ReadEvent =>
  ({ value }) => {
    const sent = memberOf(value, 'properties')
    const params = typeof sent === 'string' ? parse(sent) : sent
    return {
      id: textAt(value, 'uuid'),
      event: requireText(textAt(value, 'event'), 'event'),
      timeMs: requireTimeMs(textAt(value, 'timestamp')),
      user: textAt(value, 'distinct_id'),
      device: textAt(params, '$device_id') ?? textAt(value, 'distinct_id'),
      params: isObject(params) ? params : {},
      deviceFields: present({
        os: textAt(params, '$os'),
        device_model: textAt(params, '$device_model'),
        manufacturer: textAt(params, '$device_manufacturer'),
        version_name: textAt(params, '$app_version'),
      }),
    }
  }

const readSegment: ReadEvent = ({ value }) => {
  const type = textAt(value, 'type') ?? 'track'
  if (!['track', 'screen', 'page'].includes(type)) {
    throw new RejectedError('it is neither track, screen nor page')
  }
  const name = textAt(value, 'name')
  const properties = memberOf(value, 'properties')
  return {
    id: textAt(value, 'messageId', 'message_id'),
    event: type === 'track' ? requireText(textAt(value, 'event'), 'event') : type,
    timeMs: requireTimeMs(textAt(value, 'timestamp', 'originalTimestamp', 'receivedAt')),
    user: textAt(value, 'userId', 'anonymousId'),
    device: textAt(value, 'anonymousId', 'context.device.id', 'userId'),
    params: {
      ...(type !== 'track' && name !== undefined && { name }),
      ...(isObject(properties) && properties),
    },
    deviceFields: present({
      os: textAt(value, 'context.os.name'),
      device_model: textAt(value, 'context.device.model'),
      manufacturer: textAt(value, 'context.device.manufacturer'),
      version_name: textAt(value, 'context.app.version'),
    }),
  }
}

const singles = ['event', 'time', 'id', 'user', 'device'] as const

/** What the file of a CSV map may have. */
type CsvMap = Partial<Record<(typeof singles)[number], string>> & {
  /** The column of each param; a name with `:number` becomes a number. */
  params?: Record<string, string>
  device_fields?: Record<string, string>
}

async function readCsvMap(path: string): Promise<ReadEvent> {
  const map = parseCsvMap(await readFile(path, 'utf8'), path)
  const { params = {}, device_fields: fields = {} } = map
  return ({ columns }) => {
    const at = (column: string | undefined) => {
      if (column === undefined) return undefined
      if (column.startsWith('=')) return column.slice(1)
      if (!(column in columns)) throw new RejectedError(`there is no column ${column}`)
      return columns[column] || undefined
    }
    return {
      id: at(map.id),
      event: requireText(at(map.event), 'event'),
      timeMs: requireTimeMs(at(map.time)),
      user: at(map.user),
      device: at(map.device ?? map.user),
      params: Object.fromEntries(
        Object.entries(params).flatMap(([name, column]) => {
          const text = at(column.replace(/:number$/, ''))
          if (text === undefined) return []
          return [[name, column.endsWith(':number') ? requireNumber(text, column) : text]]
        }),
      ),
      deviceFields: Object.fromEntries(
        Object.entries(fields).flatMap(([name, column]) => {
          const text = at(column)
          return text === undefined ? [] : [[name, text]]
        }),
      ),
    }
  }
}

function requireNumber(text: string, column: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) {
    throw new RejectedError(`${column.slice(0, -':number'.length)} is no number`)
  }
  return number
}

function parseCsvMap(text: string, path: string): CsvMap {
  let map: unknown
  try {
    map = JSON.parse(text)
  } catch {
    throw new UsageError(`${path} is no JSON.`)
  }
  const known = new Set<string>([...singles, 'params', 'device_fields'])
  const isTexts = (value: unknown) =>
    isObject(value) && Object.values(value).every((one) => typeof one === 'string')
  if (!isObject(map)) throw new UsageError(`${path} is no JSON object.`)
  const { params = {}, device_fields: fields = {}, ...columns } = map
  const unknown = [
    ...Object.keys(map).filter((name) => !known.has(name)),
    ...Object.keys(isObject(fields) ? fields : {}).filter(
      (name) => !documentedDeviceFields.has(name),
    ),
  ]
  if (unknown.length > 0) throw new UsageError(`${path} has the unknown name ${unknown[0]}.`)
  if (!isTexts(params) || !isTexts(fields) || !isTexts(columns)) {
    throw new UsageError(`${path} must name columns as texts.`)
  }
  if (!('event' in map) || !('time' in map) || !('user' in map || 'device' in map)) {
    throw new UsageError(`${path} needs event, time, and user or device.`)
  }
  return map
}
