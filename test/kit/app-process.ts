import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { limits } from '@intake/contract'
import type { Order } from './preload.ts'

export interface LogEntry extends Record<string, unknown> {
  level?: number | string
  msg?: string
}

/** A program as a real process that can be killed, frozen and started again. */
export interface AppProcess {
  name: string
  /** The pid of the current or last run. */
  pid(): number
  running(): boolean
  /** The URL of the admin interface; changes with each start. */
  adminUrl(): string
  /** The log lines of all runs. */
  log: LogEntry[]
  /** Resolves when the process prints that it is up. */
  start(): Promise<void>
  /** The times at which the process was killed, in milliseconds since 1970. */
  killedAtMs: number[]
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** Sends SIGSTOP. */
  freeze(): void
  /** Sends SIGCONT. */
  thaw(): void
  /** Sends an order to the process, which must have been started with `preloadArgs`. */
  tell(order: Order): void
  /**
   * Sends SIGTERM, also to a frozen process. If it still runs after a minute, sends SIGKILL.
   * Resolves to the exit code; null if a signal ended the process.
   */
  terminate(): Promise<number | null>
}

export interface AppProcessOptions {
  name: string
  /** The program to run; by default the Node that runs this process. */
  command?: string
  args: readonly string[]
  env: Record<string, string>
  /** Receives the output of the process. */
  logFile: string
  /** A line that the process prints when it is up. @default JSON with `adminPort` or `up` */
  up?: RegExp
  /** The timeout of a start. Only a process that hangs reaches it. @default 120,000 */
  startMs?: number
}

/**
 * The folder of the built kit. A process runs built code, even if the test itself runs from source.
 */
const built = new URL(import.meta.url.endsWith('.ts') ? './dist/' : './', import.meta.url)
/** The arguments for a process that is controlled with `tell`. */
export const preloadArgs = ['--import', new URL('preload.js', built).href]
/** The arguments and environment of a process that has other limits than the contract. */
export const changedLimits = (changes: Partial<Record<keyof typeof limits, unknown>>) => ({
  args: ['--import', new URL('changed-limits.js', built).href],
  env: { CHANGED_LIMITS: JSON.stringify(changes) },
})
/**
 * A command before the program. With it, the kernel kills the process when its parent ends for any
 * reason, even if the process is frozen.
 */
const leash = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL'] : []
/** The timeout of a graceful shutdown. It is much longer than a shutdown takes. */
const stopMs = 60_000

export function createAppProcess(options: AppProcessOptions): AppProcess {
  const { name, env, logFile, up = /"(adminPort|up)":/, startMs = 120_000 } = options
  const [program, ...args] = [...leash, options.command ?? process.execPath, ...options.args]
  const log: LogEntry[] = []
  const killedAtMs: number[] = []
  let lastLines: string[] = []
  let adminPort = 0
  let child: ReturnType<typeof launch> | undefined

  function launch() {
    const spawned = spawn(program!, args, {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    spawned.stdin.on('error', () => undefined) // the process has ended
    const exited = once(spawned, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    const isUp = new Promise<void>((resolve) => {
      for (const stream of [spawned.stdout, spawned.stderr]) {
        createInterface(stream).on('line', (line) => {
          appendFileSync(logFile, `${line}\n`)
          const entry = parse(line)
          log.push(entry)
          lastLines = [...lastLines.slice(-4), line]
          if (typeof entry['adminPort'] === 'number') adminPort = entry['adminPort']
          if (up.test(line)) resolve()
        })
      }
    })
    return { process: spawned, exited, isUp }
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
        throw new Error(
          `${name} exited with ${code ?? by} before it was up:\n${lastLines.join('\n')}`,
        )
      })
      await Promise.race([started.isUp, ended]).finally(() => clearTimeout(timer))
      ended.catch(() => undefined)
    },
    killedAtMs,
    async kill() {
      if (running()) killedAtMs.push(Date.now())
      signal('SIGKILL')
      await child?.exited
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    tell: (order) => void child?.process.stdin.write(`${JSON.stringify(order)}\n`),
    async terminate() {
      signal('SIGTERM')
      signal('SIGCONT')
      const timer = setTimeout(() => signal('SIGKILL'), stopMs)
      const [code] = (await child?.exited) ?? [0]
      clearTimeout(timer)
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
