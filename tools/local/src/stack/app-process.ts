import { type Child, startChild } from '../supervisor/child.ts'
import { untilReady } from '../supervisor/until-ready.ts'

export interface AppProcessOptions {
  name: string
  script: string
  nodeOptions: readonly string[]
  env: NodeJS.ProcessEnv
  adminPort: number
  /**
   * The path that must respond with 200 before the app counts as started. `/readyz` also needs the
   * dependencies of the app. `/healthz` needs only the app. A restart uses `/healthz`, because an
   * outage of a dependency must not end the app.
   */
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
  const probe = () => respondsOk(`http://127.0.0.1:${adminPort}${until}`)
  await untilReady({ child, probe, timeoutMs: readyMs, signal })
  return child
}

async function respondsOk(url: string) {
  try {
    const response = await fetch(url, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(2000),
    })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false // not listening yet
  }
}
