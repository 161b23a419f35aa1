import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pause } from '@intake/runtime'
import { databaseOf, rightsXml, type Analyst } from '@intake/schema'
import { findClickHouse } from '../clickhouse.ts'
import { folderOfClickHouse, runningStack, UsageError } from '../endpoints.ts'

const restartMs = 60_000
const pollMs = 100

/** The ClickHouse of `npm start` reads users when it starts. Resolves to whether it is that one. */
export async function writeUserFile(analyst: Analyst): Promise<boolean> {
  const file = await placeOf(analyst)
  if (file === undefined) return false
  await writeFile(`${file}.part`, rightsXml(analyst, '127.0.0.1'), { mode: 0o600 })
  await rename(`${file}.part`, file)
  await restartClickHouse()
  return true
}

/** @returns whether there was such a file */
export async function removeUserFile(analyst: Analyst): Promise<boolean> {
  const file = await placeOf(analyst)
  if (file === undefined || !existsSync(file)) return false
  await rm(file)
  await restartClickHouse()
  return true
}

async function placeOf(analyst: Analyst): Promise<string | undefined> {
  const folder = await folderOfClickHouse((await findClickHouse()).url)
  if (folder === undefined) return undefined
  const users = join(folder, 'config', 'users.d')
  await mkdir(users, { recursive: true, mode: 0o700 })
  return join(users, `${databaseOf(analyst)}.xml`)
}

/** Resolves when `npm start` has started ClickHouse again. Workers repeat what this interrupts. */
async function restartClickHouse(): Promise<void> {
  const deadline = performance.now() + restartMs
  const before = await readPid()
  if (before !== null) process.kill(before, 'SIGKILL')
  for (;;) {
    const pid = await readPid()
    if (pid !== null && pid !== before) return
    if (performance.now() >= deadline) {
      throw new UsageError('npm start has not restarted ClickHouse: see its output.')
    }
    await pause(pollMs)
  }
}

/** The process of the running stack's ClickHouse; null while it starts. */
const readPid = async () => (await runningStack())?.pids.clickhouse ?? null
