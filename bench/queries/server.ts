import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { migrate } from '@intake/schema'
import { startClickHouse } from '@intake/local'
import type { Bench } from '../bench.ts'

/** A separate ClickHouse server, at normal priority. */
export interface Server {
  pid: number
  /** A connection as the user that owns the tables. */
  sql: ClickHouse
  analystUrl: string
  /** Stops the server and deletes its data. */
  end(): Promise<void>
}

const statementTimeoutMs = 600_000

export async function startServer(bench: Bench): Promise<Server> {
  const { owner } = bench
  const dataDir = join(bench.dataDir, 'queries')
  const service = await startClickHouse({
    dataDir,
    port: 0,
    signal: owner.signal,
    ownSession: false,
    logQueries: true,
  })
  const stop = async () => {
    service.kill()
    await service.exited
  }
  owner.add(stop)
  if (service.unconfined !== undefined) {
    throw new Error(`There is no user analyst on this system: ${service.unconfined}`)
  }
  const sql = createClickHouse({ url: service.url, requestTimeoutMs: statementTimeoutMs })
  owner.add(() => sql.close())
  await migrate({ clickhouse: sql })
  return {
    pid: service.pid,
    sql,
    analystUrl: service.analystUrl,
    async end() {
      await stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
