import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { ClickHouse } from '@intake/clickhouse'
import { readEndpoints as readIfPresent, type Endpoints } from '@intake/runtime/endpoints'
import { openClickHouse } from './open-clickhouse.ts'
import { until } from './until.ts'

/** A run of the program of `npm start`. */
export interface StackRun {
  process: ChildProcess
  /** Standard output and standard error so far. */
  output(): string
  exited: Promise<{ code: number | null; signal: string | null }>
  /** Resolves when the output has the text; rejects if the program ends before. */
  untilSaid(text: string): Promise<void>
}

export interface RunningStack {
  /** What it printed until it was ready. */
  lines: string[]
  endpoints: Endpoints
  clickhouse: ClickHouse
  /** Sends SIGINT and resolves to the exit code. */
  stop(): Promise<number | null>
}

const script = fileURLToPath(new URL('../../tools/scripts/start.mjs', import.meta.url))
/** The title of the last of the printed commands. */
export const ready = 'See them arrive'
const ports = [
  '',
  'GATEWAY_ADMIN_',
  'WORKER_ADMIN_',
  'CONSOLE_ADMIN_',
  'REDIS_',
  'CLICKHOUSE_',
  'S3_',
]
const anyPorts = Object.fromEntries(ports.map((name) => [`${name}PORT`, '0']))

/** Starts the program, which ends with the test. A port that `env` does not set is any free one. */
export function launchStack(t: Test, dataDir: string, env: Record<string, string> = {}): StackRun {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...anyPorts, INTAKE_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (it) => (output += it))
  let hasEnded = false
  const exited = once(child, 'close').then(([code, signal]) => {
    hasEnded = true
    return { code, signal } as never
  })
  t.teardown(async () => {
    child.kill('SIGINT')
    await exited
  })
  async function untilSaid(text: string) {
    await until(`it says: ${text}`, () => hasEnded || output.includes(text))
    if (!output.includes(text)) throw new Error(`it has ended:\n${output}`)
  }
  return { process: child, output: () => output, exited, untilSaid }
}

/** Resolves when the program is ready. */
export async function startStack(
  t: Test,
  { dataDir, env }: { dataDir: string; env?: Record<string, string> },
): Promise<RunningStack> {
  const { process: program, output, exited, untilSaid } = launchStack(t, dataDir, env)
  await untilSaid(ready)
  const endpoints = readEndpoints(dataDir)
  const clickhouse = openClickHouse(t, { url: endpoints.clickhouse })
  const stop = async () => {
    program.kill('SIGINT')
    return (await exited).code
  }
  return { lines: output().split('\n'), endpoints, clickhouse, stop }
}

export function readEndpoints(dataDir: string): Endpoints {
  const endpoints = readIfPresent(dataDir)
  if (endpoints === undefined) throw new Error(`no stack runs on ${dataDir}`)
  return endpoints
}
