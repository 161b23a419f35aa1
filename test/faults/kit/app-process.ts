import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Order } from './preload.ts'

export interface LogEntry extends Record<string, unknown> {
  level?: number | string
  msg?: string
}

/** A gateway or a worker as a real process that can be killed, frozen and started again. */
export interface AppProcess {
  name: string
  /** Of the current or last run. */
  pid(): number
  running(): boolean
  /** Of the admin interface; changes with each start. */
  adminUrl(): string
  /** The log lines of all runs. */
  log: LogEntry[]
  /** Resolves when the process logs that it is up. */
  start(): Promise<void>
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGSTOP. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
  /** Works only if the process was started with `preloadArgs`. */
  tell(order: Order): void
  /** SIGTERM; resolves to the exit code. */
  terminate(): Promise<number | null>
}

/**
 * Kills the process when its parent is gone for any reason. `process.exit` would wait until someone
 * reads the log.
 */
const leash =
  'data:text/javascript,process.stdin.on("end",()=>process.kill(process.pid,"SIGKILL")).on("error",()=>{}).resume();process.stdin.unref?.()'
/** For processes that a scenario controls with `tell`. */
export const preloadArgs = ['--import', new URL('./preload.js', import.meta.url).href]
/** Much longer than a start takes: only a hang reaches it. */
const startMs = 120_000

export function createAppProcess(options: {
  name: string
  script: string
  env: Record<string, string>
  nodeArgs?: string[]
  logFile: string
}): AppProcess {
  const { name, script, env, nodeArgs = [], logFile } = options
  const log: LogEntry[] = []
  let adminPort = 0
  let child: ReturnType<typeof launch> | undefined

  function launch() {
    const spawned = spawn(process.execPath, [...nodeArgs, '--import', leash, script], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    spawned.stdin.on('error', () => undefined)
    const exited = once(spawned, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    const up = new Promise<void>((resolve) => {
      for (const stream of [spawned.stdout, spawned.stderr]) {
        createInterface(stream).on('line', (line) => {
          appendFileSync(logFile, `${line}\n`)
          const entry = parse(line)
          log.push(entry)
          if (typeof entry['adminPort'] !== 'number') return
          adminPort = entry['adminPort']
          resolve()
        })
      }
    })
    return { process: spawned, exited, up }
  }

  const running = () =>
    child !== undefined && child.process.exitCode === null && child.process.signalCode === null
  const signal = (wanted: NodeJS.Signals) => void (running() && child?.process.kill(wanted))

  return {
    name,
    log,
    running,
    pid: () => child?.process.pid ?? 0,
    adminUrl: () => `http://127.0.0.1:${adminPort}`,
    async start() {
      if (running()) return
      const started = launch()
      child = started
      const timer = setTimeout(() => started.process.kill('SIGKILL'), startMs)
      const ended = started.exited.then(([code, by]) => {
        throw new Error(`${name} exited with ${code ?? by} before it was up: ${tail(log)}`)
      })
      await Promise.race([started.up, ended]).finally(() => clearTimeout(timer))
      ended.catch(() => undefined)
    },
    async kill() {
      signal('SIGKILL')
      await child?.exited
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    tell: (order) => void child?.process.stdin.write(`${JSON.stringify(order)}\n`),
    async terminate() {
      signal('SIGTERM')
      const [code] = (await child?.exited) ?? [0]
      return code
    },
  }
}

function parse(line: string): LogEntry {
  try {
    return JSON.parse(line) as LogEntry
  } catch {
    return { msg: line }
  }
}

const tail = (log: LogEntry[]) =>
  log
    .slice(-3)
    .map((entry) => JSON.stringify(entry))
    .join('\n')
