import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Lists the processes in the sessions that these processes have opened, as lines of ps. Zombies do
 * not count.
 */
export async function inSessionsOf(pids: readonly number[]): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'sid=,stat=,pid=,args='])
  return stdout.split('\n').filter((line) => {
    const [session, state] = line.trim().split(/\s+/)
    return pids.includes(Number(session)) && !state?.startsWith('Z')
  })
}
