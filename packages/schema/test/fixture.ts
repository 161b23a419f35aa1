import { randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { startClickHouse } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { ownPreparedClickHouse } from '@intake/test-kit/own-services'
import {
  ClickHouseError,
  type ClickHouse,
  type ClickHouseOptions,
  type RawTable,
} from '@intake/clickhouse'
import { migrate } from '../src/index.ts'

/**
 * Starts a migrated server for a test; it stops when the test ends.
 *
 * @param options.timeZone time zone of the server
 */
export const startServer = async (t: Test, { timeZone = 'UTC' } = {}) => {
  const prepare = (clickhouse: ClickHouse) => migrate({ clickhouse })
  const server =
    timeZone === 'UTC'
      ? await ownPreparedClickHouse(t, { name: 'migrated', prepare })
      : await startIn(t, timeZone)
  const connect = (t: Test, options: Partial<ClickHouseOptions> = {}) =>
    openClickHouse(t, { url: server.url, ...options })
  if (timeZone !== 'UTC') await prepare(connect(t))
  return { server, connect }
}

async function startIn(t: Test, timeZone: string) {
  const server = await startClickHouse({
    dataDir: createDataDir(t),
    port: 0,
    timeZone,
    niceness: 0,
  })
  t.teardown(() => server.stop())
  return server
}

/**
 * Time zones of the machine, the server or a session. No result may depend on them. The offset of
 * Asia/Kathmandu is not a whole number of hours.
 */
export const timeZones = ['UTC', 'Asia/Kathmandu', 'America/New_York'] as const

/**
 * Adds settings to a URL, so that requests run as if the profile of the user had these settings.
 */
export const withSettings = (url: string, settings: Record<string, string>) => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(settings)) query.set(`ch_${name}`, value)
  return `${url}/?${query.toString()}`
}

/** A UUIDv7 with this time. */
export const uuidV7 = (time: string) => {
  const hex =
    Date.parse(time).toString(16).padStart(12, '0') + '7' + randomBytes(10).toString('hex')
  const digits = `${hex.slice(0, 16)}8${hex.slice(17, 32)}`
  return [0, 8, 12, 16, 20].map((at, i) => digits.slice(at, [8, 12, 16, 20, 32][i])).join('-')
}

export const rowTime = '2026-11-21T03:00:00.123Z'

const head = () => ({
  id: uuidV7(rowTime),
  time: rowTime,
  received_at: '2026-11-21T03:00:01.000Z',
  request_id: randomUUID() as string,
  bundle_identifier: 'com.example.app',
  device_uuid: randomUUID() as string,
  unique_user_id: 'user-1',
  api_key_id: 'key-1',
  device: {},
  device_extra: {},
})

export const logRow = (fields: object = {}) => ({
  ...head(),
  event: 'opened',
  params: {},
  ...fields,
})

export const feedbackRow = (fields: object = {}) => ({
  ...head(),
  text: 'Good',
  attachments: [],
  ...fields,
})

/** The fields of a record that happens at this time and arrives at once; a number is in ms. */
export const atTime = (time: string | number) => {
  const iso = new Date(time).toISOString()
  return { id: uuidV7(iso), time: iso, received_at: iso }
}

/** Inserts rows as a worker does. */
export const insertRows = (
  clickhouse: Pick<ClickHouse, 'insertRows'>,
  table: RawTable,
  rows: readonly object[],
) => clickhouse.insertRows({ table, members: [member(rows)], rows: rows.length })

/** How ClickHouse refuses a row. */
export const refusal = new ClickHouseError('no', {
  kind: 'rejected',
  code: 117,
  serverText: 'because',
})

/** Rows as one gzip member, as in a frame. */
export const member = (rows: readonly object[]) =>
  gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { level: 1 })

/**
 * Random doubles of any magnitude, and doubles as clients usually send them. Doubles that
 * JavaScript prints as large integers are left out.
 */
export const randomDoubles = (count: number): number[] =>
  Array.from({ length: count }, (_, n) => {
    const any = randomBytes(8).readDoubleBE()
    const isPlain = Number.isFinite(any) && !/^-?\d{16,}$/.test(String(any))
    return n % 2 === 0 && isPlain ? any : Math.random() * 10 ** (n % 15)
  })

export const failureOf = async (request: Promise<unknown>): Promise<ClickHouseError> => {
  const error: unknown = await request.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  if (error instanceof ClickHouseError) return error
  throw error
}
