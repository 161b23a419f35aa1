import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ClientProcess } from '../../../clients/javascript/adapters/start-process.ts'
import { programCommand } from './toolchain.ts'

/** Starts a process with a Swift client. The client gets its calls as lines of JSON. */
export function startDrivenProcess(program: string): ClientProcess {
  const child = spawn(...programCommand(program), { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const calls = new Map<number, (result: unknown) => void>()
  let last = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line) as { id: number; result: unknown }
    calls.get(id)?.(result)
    calls.delete(id)
  })
  // Ignores the error of writing to a process that was killed.
  child.stdin.on('error', () => undefined)
  return {
    call: (method, ...args) =>
      new Promise((resolve, reject) => {
        const id = ++last
        calls.set(id, resolve as (result: unknown) => void)
        child.stdin.write(`${JSON.stringify({ id, method, args })}\n`)
        void exited.then(() => reject(new Error('the process has ended')))
      }),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    exited,
  }
}
