import { execFile, spawn } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { createWaitingEntries } from '@intake/access'
import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { startClickHouse, startRedis, startS3 } from '@intake/local'
import type { ObjectStore } from '@intake/object-store'
import { compress } from '@intake/queue/frame'
import { createFrameProducer, createJobSink } from '@intake/queue/produce'
import { addDeadLetter } from '@intake/records'
import type { Redis } from '@intake/redis'
import { systemClock } from '@intake/runtime'
import { migrate } from '@intake/schema'
import { setUp } from '@intake/schema/setup'
import { cleanUpPartsSoon } from '@intake/test-kit/clean-up-parts'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { openRedis } from '@intake/test-kit/open-redis'
import { openStore } from '@intake/test-kit/open-store'
import { ownPreparedClickHouse, ownRedis, ownS3 } from '@intake/test-kit/own-services'
import { feedbackRow, insertRows, logRow, uuidV7 } from '../../../packages/schema/test/fixture.ts'
import { createIntake, type CommandResult } from './in-process.ts'

/** The path of the compiled program `intake`. */
export const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
/** Much longer than any command takes, so that only a command that hangs is killed. */
const commandMs = 240_000
const bucket = { bucket: 'intake', region: 'us-east-1' }

/**
 * Returns a function that runs the command line as an operator does, as a process. It rejects if a
 * command does not end, for example because it leaves a connection open.
 */
export function createIntakeProcess(options: { cwd: string; env: Record<string, string> }) {
  return (args: string[], env: Record<string, string> = {}): Promise<CommandResult> =>
    new Promise((resolve, reject) => {
      const { cwd } = options
      const { COVERAGE_DIR } = process.env
      const coverage = COVERAGE_DIR === undefined ? {} : { NODE_V8_COVERAGE: COVERAGE_DIR }
      const all = {
        cwd,
        env: { ...process.env, ...coverage, ...options.env, ...env },
        timeout: commandMs,
        killSignal: 'SIGKILL',
      } as const
      execFile(process.execPath, [main, ...args], all, (error, stdout, stderr) => {
        if (error?.killed) reject(new Error(`intake ${args.join(' ')} does not end`))
        else resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
      })
    })
}

/** Starts a command that runs until a signal; it is killed at the end of the test. */
export function startIntake(t: Test, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const notes: string[] = []
  createInterface(child.stderr).on('line', (line) => notes.push(line))
  return { child, exited, notes }
}

/** Without gateways, nothing has to wait until they know a change. */
export function waitForNoGateway(t: Test): void {
  const { setTimeout } = systemClock
  systemClock.setTimeout = (run, ms) => setTimeout(run, ms === 45_000 ? 0 : ms)
  t.teardown(() => (systemClock.setTimeout = setTimeout))
}

/** Runs `work`, which must wait once until gateways know a change. That wait ends at once. */
export async function withoutPause<T>(t: Test, work: () => Promise<T>): Promise<T> {
  const { setTimeout } = systemClock
  let pauses = 0
  systemClock.setTimeout = (run, ms) => {
    if (ms !== 45_000) return setTimeout(run, ms)
    pauses++
    return setTimeout(run, 0)
  }
  try {
    return await work()
  } finally {
    systemClock.setTimeout = setTimeout
    t.equal(pauses, 1, 'it waits')
  }
}

interface ServicesOptions {
  /** Time zone of ClickHouse. */
  timeZone?: string
  /** Whether the test gets its own services, because it stops them or changes their settings. */
  unshared?: boolean
}

/**
 * Starts all services for one test and sets them up. `dataDir` in the result is a folder for files
 * of the test.
 */
export async function startServices(
  t: Test,
  { timeZone = 'UTC', unshared = timeZone !== 'UTC' }: ServicesOptions = {},
) {
  const dataDir = createDataDir(t)
  const [redis, server, s3] = await (unshared
    ? startUnshared(t, { dataDir, timeZone })
    : Promise.all([
        ownRedis(t),
        ownPreparedClickHouse(t, { name: 'shows all rows', prepare: prepareTables }),
        ownS3(t),
      ]))
  const clickhouse = openClickHouse(t, { url: server.url })
  if (unshared) await prepareTables(clickhouse)
  await setUp({
    redisUrl: redis.url,
    clickhouseUrl: server.url,
    s3: { endpoint: s3.url, ...bucket },
    acceptEmptyRedis: false,
  })
  const objects = openStore(t, s3.url)
  const keys = openRedis(t, redis)

  const endpoints = { REDIS_URL: redis.url, CLICKHOUSE_URL: server.url, S3_ENDPOINT: s3.url }
  const intake = createIntake({ cwd: dataDir, env: endpoints })
  /** What the commands have left in the journal; no worker moves it. */
  const journal = async () => {
    const rows = await createWaitingEntries({ redis: keys }).peek(1_000)
    return rows.map((row) => {
      const entry = JSON.parse(row) as { action: string; subject: string; detail: string }
      return { ...entry, detail: JSON.parse(entry.detail) as object }
    })
  }
  const clients = { clickhouse, objects, keys, intake }
  return { journal, dataDir, redis, server, s3, endpoints, ...clients, ...rowsOf(clients) }
}

/** Creates tables in which every inserted row can be counted, and found in files. */
async function prepareTables(clickhouse: ClickHouse): Promise<void> {
  await migrate({ clickhouse })
  for (const statement of cleanUpPartsSoon) await clickhouse.command(statement)
  // Stops merges, so that every inserted row can be counted.
  for (const table of ['logs_raw', 'feedback_raw', 'dead_letters_raw', 'attachments_raw']) {
    await clickhouse.command(
      `ALTER TABLE intake.${table} MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1`,
    )
  }
  // Stores `unique_user_id` without compression, so that its values can be found in ClickHouse's
  // files.
  for (const table of ['logs_raw', 'feedback_raw']) {
    await clickhouse.command(`ALTER TABLE intake.${table} MODIFY COLUMN unique_user_id CODEC(NONE)`)
  }
}

async function startUnshared(t: Test, options: { dataDir: string; timeZone: string }) {
  const { dataDir, timeZone } = options
  const services = await Promise.all([
    startRedis({ dataDir: join(dataDir, 'redis'), port: 0 }),
    startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0, timeZone, niceness: 0 }),
    startS3({ dataDir: join(dataDir, 's3'), port: 0 }),
  ])
  t.teardown(() => Promise.all(services.map((service) => service.stop())))
  return services
}

export const picture = Buffer.from('a picture')
export const pictureSha = hash('sha256', picture)

/** Rows may be lines of JSON, too: JavaScript would round some numbers. */
const lineOf = (row: object | string) => (typeof row === 'string' ? row : JSON.stringify(row))

function rowsOf(clients: { clickhouse: ClickHouse; keys: Redis; objects: ObjectStore }) {
  const { clickhouse, keys: redis, objects } = clients
  return {
    insert: (table: 'logs' | 'feedback' | 'attachments', rows: readonly object[]) =>
      insertRows(clickhouse, table, rows),
    /** Puts rows into the queue, as a gateway does, as one frame. */
    async enqueue(
      rows: readonly (object | string)[],
      options: { kind?: RecordKind; shard?: number } = {},
    ) {
      const { kind = 'logs', shard = 0 } = options
      const sink = createJobSink({ redis, kind, shard })
      const content = compress(rows.map((row) => `${lineOf(row)}\n`).join(''))
      const frame = { rows: rows.length, jsonBytes: 100, ...content, receivedAtMs: Date.now() }
      await createFrameProducer({ sink }).add(frame, performance.now() + 60_000)
      await sink.close()
    },
    /** Stores a row as a dead letter. ClickHouse rejected it with these words. */
    reject(row: object | string, options: { table?: RecordKind; serverText?: string } = {}) {
      const { table = 'logs', serverText = 'why' } = options
      const refusal = new ClickHouseError('no', { kind: 'rejected', code: 27, serverText })
      return addDeadLetter(clickhouse, { table, row: lineOf(row), refusal })
    },
    /** Stores `picture` under this key; resolves to it as an attachment of a feedback. */
    async putPicture(key: string) {
      await objects.put({ key, body: picture, contentType: 'image/png', sha256: pictureSha })
      return { key, content_type: 'image/png', bytes: picture.length, sha256: pictureSha }
    },
    /** Runs `SELECT` and the given rest of the statement; resolves to the column `n` of its row. */
    async number(sql: string): Promise<number> {
      const [row] = await clickhouse.query<{ n: number }>(`SELECT ${sql}`)
      return row!.n
    },
  }
}

export const user = () => `user-${randomUUID()}`

/** Log rows of a user, one for each of `count` minutes. */
export const logsOf = (unique_user_id: string, count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, minute) => {
    const time = new Date(Date.UTC(2026, 10, 20, 12, minute)).toISOString()
    return logRow({ unique_user_id, id: uuidV7(time), time, received_at: time, ...fields })
  })

/** The row that a worker stores about the attachments of a feedback. */
export const factsRow = (feedback: ReturnType<typeof feedbackRow>, keys: string[] = []) => {
  const { id, time, bundle_identifier, device_uuid } = feedback
  const facts = keys.map((key) => ({ key, width: 1, height: 1, thumbnail_key: key, error: null }))
  return { id, time, bundle_identifier, device_uuid, facts }
}

export { feedbackRow, logRow, uuidV7 }
