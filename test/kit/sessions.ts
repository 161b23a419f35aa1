import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Lists the processes in all sessions that the given processes have opened, each as a line of ps.
 * Zombies are left out.
 */
export async function inSessionsOf(pids: readonly number[]): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'sid=,stat=,pid=,args='])
  return stdout.split('\n').filter((line) => {
    const [session, state] = line.trim().split(/\s+/)
    return pids.includes(Number(session)) && !state?.startsWith('Z')
  })
}
