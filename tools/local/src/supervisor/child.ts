import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'

import { openLogFile } from './log-file.ts'
import { StartError } from './start-error.ts'

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface ChildOptions {
  /** The name shown to the user in every message about the process. */
  name: string
  command: string
  args?: readonly string[]
  env?: NodeJS.ProcessEnv
  cwd?: string
  logFile: string
  /** Ctrl-C does not reach an own session, and Linux may give it its own CPU. Default: true. */
  ownSession?: boolean | undefined
}

export interface Child {
  name: string
  /** The pid is that of the service and not of a shell, so that a signal reaches it. */
  pid: number
  logFile: string
  /** Resolves when the process and its watcher have ended. Never rejects. */
  exited: Promise<Exit>
  /** False as soon as the process is known to have ended. */
  running(): boolean
  logTail(): string
  /** Sends SIGTERM, after `graceMs` SIGKILL. Resolves with `exited`. May be called repeatedly. */
  stop(graceMs?: number): Promise<void>
  kill(): void
}

/**
 * A shell script that starts a watcher in the background. The shell then becomes the service by
 * `exec`, so the pid of the shell is that of the service. The watcher reads descriptor 3, whose
 * other end the Node process holds. If the watcher reads a line, the service has ended. If the
 * watcher reads the end of the file, the Node process has ended, perhaps by SIGKILL, and the
 * watcher ends the service. State Z is a zombie: a process that has ended but whose parent has not
 * read its status, as happens in a container without an init. `umask 077` makes the files that the
 * service writes unreadable for other users.
 */
const leashScript = `
(
  read -r _ <&3 && exit
  kill -TERM $$ 2>/dev/null || exit
  for _ in 1 2 3 4 5 6 7 8; do
    sleep 1
    kill -0 $$ 2>/dev/null || exit
    case $(cat /proc/$$/stat 2>/dev/null) in *") Z "*) exit ;; esac
  done
  kill -KILL $$ 2>/dev/null
) </dev/null >/dev/null 2>&1 &
umask 077
exec "$@" 3<&-
`

/** Starts a process that ends when this process ends, even if this process is killed. */
export function startChild(options: ChildOptions): Child {
  const { name, command, args = [], env = process.env, cwd, ownSession = true } = options
  const log = openLogFile(options.logFile)
  const child = spawn('sh', ['-c', leashScript, 'sh', command, ...args], {
    env,
    cwd,
    detached: ownSession,
    stdio: ['ignore', log.fd, log.fd, 'pipe'],
  })
  log.close()
  const { pid } = child
  if (pid === undefined) {
    child.once('error', () => undefined) // the same failure, reported one tick later
    throw new StartError(`${name} could not be started: this system has no usable \`sh\`.`)
  }

  const leash = child.stdio[3] as Socket
  leash.on('error', () => undefined) // the watcher was killed
  leash.resume()
  const leashClosed = once(leash, 'close')

  let running = true
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      running = false
      leash.end('done\n')
      void leashClosed.then(() => resolve({ code, signal }))
    })
  })

  let stopping: Promise<void> | undefined
  async function stop(graceMs = 5000) {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    await exited
    clearTimeout(timer)
  }

  return {
    name,
    pid,
    logFile: log.path,
    exited,
    running: () => running,
    logTail: log.tail,
    stop: (graceMs) => (stopping ??= stop(graceMs)),
    kill: () => void child.kill('SIGKILL'),
  }
}

export function describeExit({ code, signal }: Exit) {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}
