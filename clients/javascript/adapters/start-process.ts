import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

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
  const calls = new Map<number, (message: { result?: unknown; error?: string }) => void>()
  let last = 0
  child.on('message', (message: { id: number; result?: unknown; error?: string }) => {
    calls.get(message.id)?.(message)
    calls.delete(message.id)
  })
  return {
    call: (method, ...args) =>
      new Promise((resolve, reject) => {
        const id = ++last
        calls.set(id, ({ result, error }) => {
          if (error === undefined) resolve(result as never)
          else reject(new Error(error))
        })
        child.send({ id, method, args }, (error) => error && reject(error))
        void exited.then(() => reject(new Error('the process has ended')))
      }),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    exited,
  }
}
