import type { Test } from 'tap'
import { migrate } from '@intake/schema'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { findObstacles } from '../../src/engines/obstacles.ts'
import { startClickHouse, type ClickHouseOptions } from '../../src/index.ts'

/** Why tests of analysts are skipped: the system cannot confine ClickHouse, so there are none. */
export const skip = (await findObstacles()).files ?? false

/** Starts a ClickHouse for one test, with Intake's tables. */
export async function startWithTables(t: Test, options: Partial<ClickHouseOptions> = {}) {
  const dataDir = createDataDir(t)
  const server = await startClickHouse({ dataDir, port: 0, ...options })
  t.teardown(() => server.stop())
  const connect = (url: string) => openClickHouse(t, { url, requestTimeoutMs: 60_000 })
  const owner = connect(server.url)
  await migrate({ clickhouse: owner })
  return { dataDir, server, owner, connect }
}

/** Sends a statement as the user in the URL. `settings` are sent in the query string. */
export async function ask(
  url: string,
  body: string | FormData,
  settings: Record<string, string> = {},
) {
  const { origin, username, password } = new URL(url)
  const response = await fetch(`${origin}/?${new URLSearchParams(settings).toString()}`, {
    method: 'POST',
    body,
    headers: username === '' ? {} : { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
    signal: AbortSignal.timeout(150_000),
  })
  return { status: response.status, text: await response.text() }
}

/** Works off a list, sixteen items at a time. */
export async function forEachItem<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
) {
  const pending = items.values()
  const workOff = async () => {
    for (const item of pending) await work(item)
  }
  await Promise.all(Array.from({ length: 16 }, workOff))
}
