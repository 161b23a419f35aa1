import { dayMs } from '@intake/contract'
import { appVersions, models, networks, screens } from '../vocabulary.ts'

/**
 * A fleet of devices. Their events are computed in SQL and are always the same, because every value
 * is computed from the number of its event. Events are numbered in the order of their arrival. The
 * last one, number `rows - 1`, arrives just before `endMs`, almost `days` after number 0.
 */
export interface Fleet {
  /** The number of events, repeats not counted. */
  rows: number
  /** The end of the time in which events arrive, in milliseconds since 1970. */
  endMs: number
  days: number
  /** The number of applications. The first ones have most devices. */
  applications: number
}

const eventsPerSession = 20
const devices = 100_000

export const firstApplication = 'com.example.app0'

const events = ['screen_view', 'button_tap', 'search', 'request', 'request', 'video_progress']
const paths = ['/v1/search', '/v1/products', '/v1/cart', '/v1/checkout', '/v1/profile', '/v2/feed']
const batteryStates = ['charging', 'unplugged', 'unplugged', 'full']

const list = (values: readonly (string | number)[]) =>
  `[${values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join(', ')}]`
const pick = (values: readonly (string | number)[], number: string) =>
  `${list(values)}[1 + (${number}) % ${values.length}]`
const ofModel = (value: (model: (typeof models)[number]) => string | number) =>
  `${list(models.map(value))}[1 + model_index]`
const hash = (...of: string[]) => `cityHash64(${of.join(', ')})`

/** Returns SQL for a UUID, from SQL expressions for its upper and lower 64 bits. */
const uuid = (high: string, low: string) =>
  `reinterpretAsUUID(bitOr(bitShiftLeft(toUInt128(${low}), 64), toUInt128(${high})))`

const randomUuid = (seed: string) =>
  uuid(
    `bitOr(bitAnd(${hash(seed, '1')}, 0xFFFFFFFFFFFF0FFF), 0x4000)`,
    `bitOr(bitAnd(${hash(seed, '2')}, 0x3FFFFFFFFFFFFFFF), 0x8000000000000000)`,
  )

const device = `tuple(
    ${ofModel(({ os }) => os)}, ${ofModel(({ brand }) => brand)}, ${ofModel(({ model }) => model)},
    os_version, battery, ${pick(batteryStates, 'session_hash')}, ${ofModel(({ board }) => board)},
    concat(${ofModel(({ board }) => board)}, '-', toString(1 + device_hash % 6), '.0'),
    concat(${ofModel(({ brand, product, board }) => `${brand}/${product}/${board}:`)}, os_version, '/', incremental,
      ':user/release-keys'),
    ${ofModel(({ board }) => board)}, concat('build-', toString(device_hash % 40)),
    toDate32('2026-01-05') + 30 * (device_hash % 9), 'release-keys',
    toDateTime64('2026-01-10 08:30:00', 3, 'UTC') + toIntervalDay(device_hash % 240), 'user', 'android-build', 'REL',
    incremental, 'Example', ${ofModel(({ board }) => board)},
    toDateTime64('2025-01-01 00:00:00', 3, 'UTC') + toIntervalSecond(device_hash % 25000000), device_hash % 100 = 0,
    toDateTime64('2026-06-01 00:00:00', 3, 'UTC') + toIntervalSecond(version * 2500000 + device_hash % 900000),
    ${ofModel(({ brand }) => brand)}, ${ofModel(({ product }) => product)}, ${ofModel(({ sdk }) => sdk)},
    ['arm64-v8a'], 41820 + version * 10, ${pick(appVersions, 'version')})`

/**
 * The params of an event. `ms` has a decimal place in one of ten events, and is a string in one of
 * fifty.
 */
const params = `concat(
    '{"screen":"', ${pick(screens, hash('n', '21'))}, '","session_id":"', toString(${randomUuid('session')}),
    '","step":', toString(step), ',"ms":', multiIf(event_hash % 10 = 0,
      toString(${hash('n', '22')} % 90000 / 10 + 0.5), event_hash % 50 = 1, concat('"', toString(event_hash % 9000), '"'),
      toString(${hash('n', '22')} % 9000)),
    ',"network":"', ${pick(networks, 'session_hash')}, '","locale":"en_GB","free_memory_mb":',
    toString(80 + ${hash('n', '23')} % 2900),
    if(event = 'request', concat(',"path":"', ${pick(paths, 'event_hash')}, '","status":',
      toString([200, 200, 200, 204, 404, 500][1 + ${hash('n', '24')} % 6])), ''),
    if(event = 'purchase', concat(',"items":', toString(1 + event_hash % 9), ',"amount":',
      toString(event_hash % 90000 / 100)), ''),
    if(event = 'crash', concat(',"reason":"', ['OutOfMemory', 'NullPointer', 'ANR'][1 + event_hash % 3], '"'), ''), '}')`

/**
 * Selects events in arrival order, as columns of `logs_raw`. A session is 20 events of one device
 * within about seven minutes. They all arrive at once after the session: in 82 % of sessions within
 * a minute, in 15 % up to an hour later, and in 3 % up to ten days later.
 *
 * @param range.repeated whether to select only repeats: one event in a hundred arrives again, a day
 * later
 */
export function logsSelect(fleet: Fleet, range: { from: number; to: number; repeated: boolean }) {
  const { from, to, repeated } = range
  const { applications } = fleet
  const lengthMs = fleet.days * dayMs
  const stepMs = lengthMs / fleet.rows
  const startMs = fleet.endMs - lengthMs
  return `WITH number AS n,
  intDiv(n, ${eventsPerSession}) AS session, n % ${eventsPerSession} AS step,
  ${hash('session', '1')} AS session_hash, ${hash('n', '2')} AS event_hash,
  toUInt64(${devices} * pow(${hash('session', '3')} % 1000000 / 1000000, 1.4)) AS device_number,
  ${hash('device_number', '4')} AS device_hash, device_hash % ${models.length} AS model_index,
  ${startMs} + toInt64(session * ${eventsPerSession * stepMs}) AS arrival_ms,
  ${hash('session', '5')} % 100 AS delay,
  multiIf(delay < 82, session_hash % 3000, delay < 97, session_hash % 3600000, session_hash % 864000000) AS late_ms,
  arrival_ms - late_ms - 1000 * (${eventsPerSession} * 21) + step * 20000 + event_hash % 15000 AS time_ms,
  toUInt64(greatest(0, least(5, (time_ms - ${startMs}) / ${lengthMs / 5} + device_hash % 3 - 1))) AS version,
  toString(${ofModel(({ sdk }) => sdk - 21)} - device_hash % 2) AS os_version,
  concat(${ofModel(({ build }) => build)}, '.', toString(device_hash % 30)) AS incremental,
  greatest(0.01, (session_hash % 100 - step) / 100) AS battery,
  multiIf(step = 0, 'app_open', step = 19, if(session_hash % 50 = 0, 'crash', 'app_background'),
    step = 15 AND session_hash % 8 = 0, 'purchase', ${pick(events, hash('n', '6'))}) AS event
SELECT
  ${uuid(
    `bitOr(bitShiftLeft(toUInt64(time_ms), 16), bitOr(0x7000, event_hash % 4096))`,
    `bitOr(bitAnd(${hash('n', '7')}, 0x3FFFFFFFFFFFFFFF), 0x8000000000000000)`,
  )} AS id,
  fromUnixTimestamp64Milli(time_ms, 'UTC') AS time,
  fromUnixTimestamp64Milli(arrival_ms + ${repeated ? dayMs : 0}, 'UTC') AS received_at,
  concat('com.example.app', toString(toUInt64(${applications} * pow(device_hash % 1000000 / 1000000, 3)))) AS bundle_identifier,
  ${randomUuid('device_number')} AS device_uuid,
  concat('user-', toString(device_number % ${devices * 0.9})) AS unique_user_id,
  concat('key_', toString(device_number % 7)) AS api_key_id,
  ${randomUuid(repeated ? `session + ${2 ** 40}` : 'session')} AS request_id,
  ${device} AS device,
  concat('{"carrier":"Carrier ', toString(device_hash % 9), '"}') AS device_extra,
  fromUnixTimestamp64Milli(time_ms + if(device_hash % 20 = 0, device_hash % 600000, 0), 'UTC') AS client_timestamp,
  '{}' AS extra, event, ${params} AS params
FROM numbers(${from}, ${to - from})${repeated ? ` WHERE ${hash('number', '8')} % 100 = 0` : ''}`
}

/** One feedback for every tenth session of the range, as columns of `feedback_raw`. */
export function feedbackSelect(fleet: Fleet, range: { from: number; to: number }) {
  const one = logsSelect(fleet, { ...range, repeated: false })
  return `SELECT * EXCEPT (event, params), NULL AS feedback_id, 'someone@example.com' AS email,
  'The page stays empty after I tap the button.' AS text, [] AS attachments
FROM (${one} WHERE number % ${eventsPerSession * 10} = 10)`
}
