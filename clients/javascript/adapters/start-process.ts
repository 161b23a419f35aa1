import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createCalls, type Reply } from './calls.ts'

export interface ClientProcess {
  call<Result = unknown>(method: string, ...args: unknown[]): Promise<Result>
  /** Ends the process at once, without warning. */
  kill(): Promise<void>
  exited: Promise<unknown>
}

type Message = Reply & { id: number }

/**
 * Starts a process that runs a client, from a script in this folder.
 *
 * @param nodeOptions options for Node, added to the options that every such process gets
 */
export function startClientProcess(
  script: 'node-process.ts' | 'react-native-process.ts',
  nodeOptions: readonly string[] = [],
): ClientProcess {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), {
    execArgv: ['--expose-gc', '--import=tsx', '--conditions=intake:source', ...nodeOptions],
  })
  const { calls, ending } = watch(child)
  child.on('message', (message: Message) => calls.settle(message.id, message))
  return {
    call: (method, ...args) =>
      calls.call((id, reject) => {
        child.send({ id, method, args }, (error) => error && reject(error))
      }),
    ...ending,
  }
}

/** Starts a program that runs a client. It reads calls and prints replies, as lines of JSON. */
export function startLineProcess(program: string, options: readonly string[]): ClientProcess {
  const child = spawn(program, options, { stdio: ['pipe', 'pipe', 'inherit'] })
  const { calls, ending } = watch(child)
  // Ignores the error of writing to a process that was killed.
  child.stdin.on('error', () => undefined)
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    calls.settle(message.id, message)
  })
  return {
    call: (method, ...args) =>
      calls.call((id) => child.stdin.write(`${JSON.stringify({ id, method, args })}\n`)),
    ...ending,
  }
}

function watch(child: ChildProcess) {
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { calls: createCalls(exited), ending: { kill, exited } }
}
