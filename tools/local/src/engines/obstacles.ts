import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const checkTimeoutMs = 20_000
const host = fileURLToPath(new URL('../../hosts/clickhouse.mjs', import.meta.url))

/** A reason is absent if this system can restrict an engine to its files, or to its port. */
export async function findObstacles(): Promise<{ files?: string; network?: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [host, '--check'], {
    timeout: checkTimeoutMs,
  })
  return JSON.parse(stdout) as { files?: string; network?: string }
}
