import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { until } from '@intake/test-kit/until'
import type { ManagedService } from './service.ts'

export interface Trace {
  /** Resolves when strace has exited. It exits by itself when the traced process exits. */
  ended: Promise<void>
  stop(): Promise<void>
}

/**
 * Attaches strace to all threads of a process.
 *
 * @param expressions the values of strace's option `-e`
 * @param path limits the trace to calls on this file
 */
export async function trace(pid: number, expressions: string[], path?: string): Promise<Trace> {
  const paths = path === undefined ? [] : ['-P', path]
  const chosen = expressions.flatMap((expression) => ['-e', expression])
  const args = ['-f', '-o', '/dev/null', '-p', String(pid), ...paths, ...chosen]
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const said: string[] = []
  const ended = new Promise<void>((resolve, reject) => {
    strace.once('error', reject)
    strace.once('exit', () => resolve())
  })
  const attached = new Promise<void>((resolve) => {
    createInterface(strace.stderr).on('line', (line) => {
      said.push(line)
      if (/ attached/.test(line)) resolve()
    })
  })
  const failed = ended.then(() => {
    throw new Error(`strace did not attach: ${said.join(' ')}`)
  })
  await Promise.race([attached, failed])
  failed.catch(() => undefined)
  return {
    ended,
    async stop() {
      strace.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * Kills a service as it enters one of the given system calls, and starts it again.
 *
 * @param options.call the names of the system calls, separated by commas
 * @param options.nth which of these calls it does not survive
 * @param options.path counts only calls on this file
 */
export async function killAtCall(
  service: ManagedService,
  { call, nth, path }: { call: string; nth: number; path?: string },
): Promise<void> {
  const expressions = [`trace=${call}`, `inject=${call}:signal=SIGKILL:when=${nth}`]
  const strace = await trace(service.pid(), expressions, path)
  await until(`${service.name} is dead`, () => !service.running())
  await strace.ended
  await service.start()
}

/**
 * Returns the reason if tracing is impossible, for example because strace is missing. Otherwise
 * returns undefined.
 */
export async function mayTrace(): Promise<string | undefined> {
  const other = spawn('sleep', ['5'], { stdio: 'ignore' })
  try {
    await once(other, 'spawn')
    const traced = await trace(other.pid ?? 0, ['trace=none'])
    await traced.stop()
    return undefined
  } catch (error) {
    return `strace cannot be used here: ${error instanceof Error ? error.message : String(error)}`
  } finally {
    other.kill('SIGKILL')
  }
}
