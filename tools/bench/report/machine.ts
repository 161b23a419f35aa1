import { execFile } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench } from '../bench.ts'

/**
 * The machine, versions and commit with which the numbers were measured. Contains no names or paths
 * of the machine.
 */
export interface Circumstances {
  date: string
  /** Short hash, followed by `+` if the sources differ from the commit. */
  commit: string
  cpu: string
  cores: number
  memoryGiB: number
  kernel: string
  node: string
  redis: string
  clickhouse: string
}

export async function describeCircumstances({ services }: Bench): Promise<Circumstances> {
  const info = await services.keys.info('server')
  const [clickhouse] = await services.sql.query<{ version: string }>('SELECT version() AS version')
  const [first] = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: await describeCommit(),
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.versions.node,
    redis: /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? 'unknown',
    clickhouse: clickhouse?.version ?? 'unknown',
  }
}

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const measured = ['gateway', 'worker', 'packages', 'tools/bench', 'pnpm-lock.yaml']

async function describeCommit(): Promise<string> {
  try {
    const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim()
    const changes = await git('status', '--porcelain', '--untracked-files=no', '--', ...measured)
    return `${await git('rev-parse', '--short=12', 'HEAD')}${changes === '' ? '' : '+'}`
  } catch {
    return 'unknown' // a copy of the sources without Git history
  }
}

export function circumstancesMarkdown(of: Circumstances): string {
  return `${of.date}, commit \`${of.commit}\`. ${of.cpu}, ${of.cores} cores, ${of.memoryGiB} GiB, Linux
${of.kernel}, Node ${of.node}, Redis ${of.redis}, ClickHouse ${of.clickhouse}. All processes, including
the load generator, run on this machine and communicate over loopback; ClickHouse runs at idle
priority (SCHED_IDLE).`
}
