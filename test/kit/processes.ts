import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Much longer than any step takes, so only a real failure reaches it. */
const timeoutMs = 300_000

/** Resolves with the first value that is not undefined or false; rejects after the timeout. */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await probe()
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await delay(50)
  }
}

/** The processes in the sessions of these pids, as lines of ps, without zombies. */
export async function inSessionsOf(pids: readonly number[]) {
  const { stdout } = await run('ps', ['-eo', 'sid=,stat=,pid=,args='])
  return stdout.split('\n').filter((line) => {
    const [session, state] = line.trim().split(/\s+/)
    return pids.includes(Number(session)) && !state?.startsWith('Z')
  })
}
