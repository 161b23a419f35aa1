import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const checkTimeoutMs = 20_000
const host = fileURLToPath(new URL('../../hosts/clickhouse.mjs', import.meta.url))

/**
 * Resolves to the reasons why this system cannot restrict an engine to its files (`files`) and to
 * its port (`network`). A reason is absent if the system can do it.
 */
export async function findObstacles(): Promise<{ files?: string; network?: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, [host, '--check'], {
    timeout: checkTimeoutMs,
  })
  return JSON.parse(stdout) as { files?: string; network?: string }
}
