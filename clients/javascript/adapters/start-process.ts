import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createCalls, type Reply } from './calls.ts'

export interface ClientProcess {
  call<Result = unknown>(method: string, ...args: unknown[]): Promise<Result>
  /** Ends the process at once, without warning. */
  kill(): Promise<void>
  exited: Promise<unknown>
}

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
  const exited = once(child, 'exit')
  const calls = createCalls(exited)
  child.on('message', (message: Reply & { id: number }) => calls.settle(message.id, message))
  return {
    call: (method, ...args) =>
      calls.call((id, reject) => {
        child.send({ id, method, args }, (error) => error && reject(error))
      }),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    exited,
  }
}
