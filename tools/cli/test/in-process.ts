import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Endpoints } from '@intake/runtime/endpoints'
import { rememberEnvironment } from '@intake/test-kit/environment'
import { printTo } from '../src/print.ts'
import { runIntake } from '../src/run.ts'

/** What `npm start` writes into `endpoints.json`. */
export const endpointsOfStack: Endpoints = {
  gateway: 'http://g',
  gatewayAdmin: 'http://a',
  workerAdmin: null,
  workerAdmins: [],
  page: 'http://p',
  redis: "redis://:it's@h",
  clickhouse: 'http://c',
  analyst: 'http://analyst:secret@127.0.0.1:18123',
  s3: 'http://s',
  apiKey: 'ik_1',
  settings: { QUEUE_SHARDS: '3' },
  pids: { redis: 1, clickhouse: 2, s3: 3, gateway: 4, workers: [null], console: null },
}

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/**
 * Resolves when the last command has ended. Commands run one after the other, because they share
 * the environment of this process.
 */
let last: Promise<unknown> = Promise.resolve()

/**
 * Returns a function that runs the command line in this process, because starting a process takes
 * longer than most commands do. hostile-text.slow.test.ts runs each command once in a process of
 * its own, which shows that the command ends. Commands that run until a signal, or that read
 * standard input, need `createIntakeProcess`.
 *
 * @param options.cwd the operator's working directory
 */
export function createIntake(options: { cwd: string; env: Record<string, string> }) {
  const base = { INTAKE_DATA_DIR: join(options.cwd, '.intake'), ...options.env }
  return (args: string[], env: Record<string, string> = {}): Promise<CommandResult> => {
    const result = last.then(() => run(args, { ...base, ...env }))
    last = result.catch(() => undefined)
    return result
  }
}

async function run(args: string[], env: Record<string, string>): Promise<CommandResult> {
  const restoreEnvironment = rememberEnvironment()
  const { exitCode } = process
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const printed = Promise.all([text(stdout), text(stderr)])
  Object.assign(process.env, env)
  process.exitCode = undefined
  printTo({ stdout, stderr })
  let code: number
  try {
    code = await runIntake(args)
  } finally {
    printTo(process)
    process.exitCode = exitCode
    restoreEnvironment()
    stdout.end()
    stderr.end()
  }
  const [out, err] = await printed
  return { code, stdout: out, stderr: err }
}
