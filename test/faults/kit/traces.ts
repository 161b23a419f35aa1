import { readdirSync } from 'node:fs'
import { kinds } from '@intake/contract'
import { createObjectStore } from '@intake/object-store'
import { openFrame } from '@intake/queue'
import { decompress } from '@intake/queue/frame'
import type { Cluster } from './cluster.ts'
import { queueKey } from './observe.ts'

const payloadTables = ['logs_raw', 'feedback_raw', 'dead_letters_raw']

/**
 * Counts the raw rows that contain a payload of this user: all versions of the user's records, and
 * the user's dead letters.
 */
export async function rawRowsOf({ sql }: Cluster, user: string): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `SELECT (SELECT count() FROM intake.logs_raw WHERE unique_user_id = {user:String})
          + (SELECT count() FROM intake.feedback_raw WHERE unique_user_id = {user:String})
          + (SELECT count() FROM intake.dead_letters_raw WHERE position(row, {user:String}) > 0) AS n`,
    { user },
  )
  return row?.n ?? 0
}

/** Counts those rows of one user that analysts can see: logs, feedback and dead letters. */
export async function visibleRowsOf({ sql }: Cluster, user: string): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `SELECT (SELECT count() FROM intake.logs WHERE unique_user_id = {user:String})
          + (SELECT count() FROM intake.feedback WHERE unique_user_id = {user:String})
          + (SELECT count() FROM intake.dead_letters WHERE position(row, {user:String}) > 0) AS n`,
    { user },
  )
  return row?.n ?? 0
}

/**
 * Lists the parts on disk whose rows no query returns. These are replaced parts, and folders that
 * ClickHouse does not list.
 */
export async function hiddenParts({ sql }: Cluster): Promise<string[]> {
  const hidden: string[] = []
  for (const table of payloadTables) {
    const [info] = await sql.query<{ path: string }>(
      `SELECT arrayElement(data_paths, 1) AS path FROM system.tables
       WHERE database = 'intake' AND name = {table:String}`,
      { table },
    )
    const folders = readdirSync(info!.path).filter((name) => /^(\d{6}|all)_/.test(name))
    // Lists the folders first, then the parts. In the opposite order, a part that is created in
    // between would have a folder but would be missing in the list.
    const parts = await sql.query<{ name: string; active: number }>(
      `SELECT name, active FROM system.parts WHERE database = 'intake' AND table = {table:String}`,
      { table },
    )
    const known = new Set(parts.map(({ name }) => name))
    const left = readdirSync(info!.path)
    hidden.push(
      ...folders.filter((name) => !known.has(name) && left.includes(name)),
      ...parts.filter(({ active }) => active === 0).map(({ name }) => name),
    )
  }
  return hidden
}

/** Counts the frames in Redis, in any state, whose rows contain the text `part`. */
export async function framesWith({ keys }: Cluster, part: string): Promise<number> {
  let frames = 0
  for (const kind of kinds) {
    const jobs = await keys.keys(queueKey(kind, '*-*-*-*-*'))
    for (const job of jobs.filter((one) => !one.endsWith(':lock'))) {
      const data = await keys.hget(job, 'data')
      if (data === null) continue
      if (decompress(openFrame(JSON.parse(data))).includes(part)) frames++
    }
  }
  return frames
}

/** The keys of all objects that belong to the records with these ids. */
export async function objectsOf({ s3 }: Cluster, ids: ReadonlySet<string>): Promise<string[]> {
  const where = { endpoint: s3.url(), bucket: 'intake', region: 'us-east-1' }
  const store = createObjectStore({ ...where, timeoutMs: 120_000 })
  const keys: string[] = []
  try {
    for await (const key of store.list('feedback/')) {
      if (ids.has(key.split('/')[4] ?? '')) keys.push(key)
    }
  } finally {
    store.close()
  }
  return keys
}
