import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseOf, rightsXml, type Analyst } from '@intake/schema'
import { findClickHouse } from '../clickhouse.ts'
import { folderOfClickHouse } from '../endpoints.ts'

/**
 * Writes the users of an analyst for the ClickHouse of `npm start`, which has no SQL for users. It
 * reads the file when it starts.
 *
 * @returns whether ClickHouse is that of `npm start`
 */
export async function writeUserFile(analyst: Analyst): Promise<boolean> {
  const file = await placeOf(analyst)
  if (file === undefined) return false
  const part = `${file}.part`
  await writeFile(part, rightsXml(analyst, '127.0.0.1'), { mode: 0o600 })
  await rename(part, file)
  return true
}

/** @returns whether there was such a file, so that the users end with the next start */
export async function removeUserFile(analyst: Analyst): Promise<boolean> {
  const file = await placeOf(analyst)
  if (file === undefined || !existsSync(file)) return false
  await rm(file)
  return true
}

async function placeOf(analyst: Analyst): Promise<string | undefined> {
  const folder = await folderOfClickHouse((await findClickHouse()).url)
  if (folder === undefined) return undefined
  const users = join(folder, 'config', 'users.d')
  await mkdir(users, { recursive: true, mode: 0o700 })
  return join(users, `${databaseOf(analyst)}.xml`)
}
