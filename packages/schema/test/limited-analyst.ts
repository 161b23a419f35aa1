import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { startClickHouse } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { databaseOf, migrate, rightsXml, writeAnalyst, type Analyst } from '../src/index.ts'

export const password = 'limited'
export const limited = (fields: Partial<Analyst> = {}): Analyst => ({
  name: 'mobile',
  bundles: ['com.example.app'],
  without: [],
  pseudonyms: [],
  passwordSha256: createHash('sha256').update(password).digest('hex'),
  ...fields,
})

/**
 * Starts a migrated server with the users of these analysts. The embedded engine has them only from
 * a file that exists when it starts.
 */
export async function startWithAnalysts(t: Test, analysts: readonly Analyst[]) {
  const dataDir = createDataDir(t)
  const folder = join(dataDir, 'config', 'users.d')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const analyst of analysts) {
    writeFileSync(join(folder, `${databaseOf(analyst)}.xml`), rightsXml(analyst, '127.0.0.1'))
  }
  const server = await startClickHouse({
    dataDir,
    port: 0,
    niceness: 0,
    analystPassword: 'analyst',
  })
  t.teardown(() => server.stop())
  const connect = (url: string) => openClickHouse(t, { url })
  const owner = connect(server.url)
  await migrate({ clickhouse: owner })
  for (const analyst of analysts) await writeAnalyst(owner, analyst)
  const as = (analyst: Analyst) =>
    connect(`http://${databaseOf(analyst)}:${password}@127.0.0.1:${server.port}`)
  /** Sends a statement as it is; resolves to everything that the server responds. */
  const ask = async (user: string, secret: string, sql: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/?wait_end_of_query=1`, {
      method: 'POST',
      body: sql,
      headers: { 'x-clickhouse-user': user, 'x-clickhouse-key': secret },
      signal: AbortSignal.timeout(120_000),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const headers = Object.fromEntries(response.headers)
    return { status: response.status, text: bytes.toString('latin1'), headers }
  }
  return { server, owner, analyst: connect(server.analystUrl), as, ask }
}
