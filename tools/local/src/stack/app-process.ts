import { type Child, startChild } from '../supervisor/child.ts'
import { tryFetch } from '../supervisor/try-fetch.ts'
import { untilReady } from '../supervisor/until-ready.ts'

export interface AppProcessOptions {
  name: string
  script: string
  nodeOptions: readonly string[]
  env: NodeJS.ProcessEnv
  adminPort: number
  /** A restart waits for `/healthz`, because an outage of a dependency must not end an app. */
  until: '/readyz' | '/healthz'
  logFile: string
  signal: AbortSignal
}

const readyMs = 60_000
const ownPorts = import.meta.resolve('@intake/own-ports')

/** Starts the gateway, a worker or the console and resolves when its admin port responds with 200. */
export async function startAppProcess(options: AppProcessOptions): Promise<Child> {
  const { name, script, nodeOptions, env, adminPort, until, logFile, signal } = options
  const child = startChild({
    name,
    command: process.execPath,
    args: [...nodeOptions, '--enable-source-maps', `--import=${ownPorts}`, script],
    env,
    logFile,
  })
  const url = `http://127.0.0.1:${adminPort}${until}`
  const probe = async () => (await tryFetch(url, 2_000))?.isOk ?? false
  await untilReady({ child, probe, timeoutMs: readyMs, signal })
  return child
}
