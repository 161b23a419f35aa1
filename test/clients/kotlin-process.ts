import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createCalls, type Reply } from '../../clients/javascript/adapters/calls.ts'
import type { Driver } from '../../clients/javascript/adapters/driver.ts'
import { createProcessDriver } from '../../clients/javascript/adapters/process-driver.ts'
import type { ClientProcess } from '../../clients/javascript/adapters/start-process.ts'

/**
 * The driver of the Kotlin client.
 *
 * @param classPath contains the client and its adapter
 */
export const createKotlinDriver = (classPath: string): Driver =>
  createProcessDriver('kotlin', () => startKotlinProcess(classPath))

/** Starts a JVM with a client. The client gets its calls as lines of JSON. */
function startKotlinProcess(classPath: string): ClientProcess {
  const flags = ['-Xshare:auto', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m']
  const child = spawn('java', [...flags, '-cp', classPath, 'intake.client.adapter.MainKt'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const calls = createCalls(exited)
  // Ignores the error of writing to a process that was killed.
  child.stdin.on('error', () => undefined)
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Reply & { id: number }
    calls.settle(message.id, message)
  })
  return {
    call: (method, ...args) =>
      calls.call((id) => child.stdin.write(`${JSON.stringify({ id, method, args })}\n`)),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    exited,
  }
}
