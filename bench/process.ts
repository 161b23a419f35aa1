import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Owner } from './owner.ts'

/** A gateway or a worker, ours or an anchor's, as a process of its own. */
export interface NodeProcess {
  name: string
  pid: number
  /** SIGTERM, and SIGKILL after 15 s; resolves when the process is gone. */
  stop(): Promise<void>
}

/** Ends the process when the one that started it is gone, however that went. */
const leash =
  'data:text/javascript,process.stdin.on("end",()=>process.exit(9)).on("error",()=>{}).resume();process.stdin.unref?.()'
const startMs = 30_000
const stopMs = 15_000

/**
 * Starts a script with this Node and resolves when it has printed a line of JSON with `adminPort`
 * or `up`.
 *
 * @param options.logFile receives everything it prints
 */
export async function startNode(options: {
  name: string
  script: string
  env: Record<string, string>
  nodeArgs?: string[]
  logFile: string
  owner: Owner
}): Promise<NodeProcess> {
  const { name, script, env, nodeArgs = [], logFile, owner } = options
  owner.signal.throwIfAborted()
  const child = spawn(process.execPath, [...nodeArgs, '--import', leash, script], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => undefined)
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await exited
    clearTimeout(timer)
  }
  owner.add(stop)

  const log = createWriteStream(logFile, { flags: 'a' })
  const lastLines: string[] = []
  const up = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        log.write(`${line}\n`)
        lastLines.push(line)
        if (lastLines.length > 5) lastLines.shift()
        if (/"(adminPort|up)":/.test(line)) resolve()
      })
    }
  })
  void exited.then(() => log.end())
  const timer = setTimeout(() => child.kill('SIGKILL'), startMs)
  const ended = exited.then(() => {
    throw new Error(`${name} ended before it was up:\n${lastLines.join('\n')}`)
  })
  await Promise.race([up, ended]).finally(() => clearTimeout(timer))
  ended.catch(() => undefined)
  return { name, pid: child.pid as number, stop }
}
