import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Owner } from './owner.ts'

/** The process of a gateway or a worker, ours or an anchor's. */
export interface AppProcess {
  name: string
  pid: number
  /** SIGTERM, and SIGKILL after 15 s; resolves when the process is gone. */
  stop(): Promise<void>
}

interface StartOptions {
  name: string
  env: Record<string, string>
  /** Receives its output. */
  logFile: string
  owner: Owner
}

/** Kills the process, frozen or not, when its parent is gone for any reason. */
const leash = ['--pdeathsig', 'KILL']
const startMs = 30_000
const stopMs = 15_000

/** Starts a script with this Node; resolves when it prints a line of JSON with `adminPort` or `up`. */
export async function startNode(
  options: StartOptions & { script: string; nodeArgs?: string[] },
): Promise<AppProcess> {
  const { script, nodeArgs = [] } = options
  return startProcess({
    ...options,
    command: process.execPath,
    args: [...nodeArgs, script],
    up: /"(adminPort|up)":/,
  })
}

/**
 * Starts a program that cannot outlive this one.
 *
 * @param options.up a line it prints when it is up
 */
export async function startProcess(
  options: StartOptions & { command: string; args: string[]; up: RegExp },
): Promise<AppProcess> {
  const { name, command, args, env, up, logFile, owner } = options
  owner.signal.throwIfAborted()
  const child = spawn('setpriv', [...leash, command, ...args], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close')
  const stop = async () => {
    child.kill('SIGTERM')
    // It may have been frozen.
    child.kill('SIGCONT')
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await exited.finally(() => clearTimeout(timer))
  }
  owner.add(stop)

  const log = createWriteStream(logFile, { flags: 'a' })
  const lastLines: string[] = []
  const isUp = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        log.write(`${line}\n`)
        lastLines.push(line)
        if (lastLines.length > 5) lastLines.shift()
        if (up.test(line)) resolve()
      })
    }
  })
  void exited.then(() => log.end()).catch(() => undefined) // `ended` reports it
  const timer = setTimeout(() => child.kill('SIGKILL'), startMs)
  const ended = exited.then(() => {
    throw new Error(`${name} exited before it was up:\n${lastLines.join('\n')}`)
  })
  await Promise.race([isUp, ended]).finally(() => clearTimeout(timer))
  return { name, pid: child.pid as number, stop }
}
