import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { readEndpoints, type Endpoints } from '@intake/runtime/endpoints'
import { freePorts } from './free-ports.ts'

export interface RunningStack {
  /** All lines printed so far. */
  lines: string[]
  endpoints: Endpoints
  clickhouse: ClickHouse
  /** Sends SIGINT and resolves to the exit code. */
  stop(): Promise<number | null>
}

const script = fileURLToPath(new URL('../../tools/scripts/start.mjs', import.meta.url))
/**
 * The number of `curl` commands at the end of the output: one for each operation and one for the
 * first query.
 */
const curlLines = 4
const portNames = [
  'PORT',
  'GATEWAY_ADMIN_PORT',
  'WORKER_ADMIN_PORT',
  'CONSOLE_ADMIN_PORT',
  'REDIS_PORT',
  'CLICKHOUSE_PORT',
  'S3_PORT',
]

/** Runs what `npm start` runs, on free ports, until the test ends; resolves when it is ready. */
export async function startStack(
  t: Test,
  options: { dataDir: string; env?: Record<string, string> },
): Promise<RunningStack> {
  const ports = await freePorts(portNames.length)
  const stack = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      INTAKE_DATA_DIR: options.dataDir,
      ...Object.fromEntries(portNames.map((name, index) => [name, String(ports[index])])),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(stack, 'exit') as Promise<[number | null]>
  const stop = async () => {
    stack.kill('SIGINT')
    const [code] = await exited
    return code
  }
  t.teardown(stop)

  const lines: string[] = []
  const ready = new Promise<void>((resolve) => {
    for (const stream of [stack.stdout, stack.stderr]) {
      createInterface(stream).on('line', (line) => {
        lines.push(line)
        if (lines.filter(isCurl).length === curlLines) resolve()
      })
    }
  })
  await Promise.race([
    ready,
    exited.then(([code]) => {
      throw new Error(`the stack ended with ${code} before it was ready:\n${lines.join('\n')}`)
    }),
  ])

  const endpoints = readEndpoints(options.dataDir) as Endpoints
  const clickhouse = createClickHouse({ url: endpoints.clickhouse })
  t.teardown(() => clickhouse.close())
  return { lines, endpoints, clickhouse, stop }
}

export const isCurl = (line: string) => line.trimStart().startsWith('curl ')
