import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const shells = new Set(['sh', 'ash', 'bash', 'dash', 'ksh', 'zsh'])

/**
 * Watches the parent of this process: `gone` returns whether the parent has ended since the watch
 * began. The parent may be only the shell in which npm runs a script. Then npm is watched too,
 * because that shell survives the end of npm.
 */
export function watchAncestors(): { gone(): boolean } {
  const parent = process.ppid
  const npm = npmAbove(parent)
  return { gone: () => process.ppid !== parent || (npm !== undefined && !exists(npm)) }
}

function npmAbove(parent: number): number | undefined {
  if (process.env['npm_lifecycle_event'] === undefined) return undefined
  const { command, parent: above } = describe(parent)
  return shells.has(command) && above > 1 ? above : undefined
}

function describe(pid: number): { command: string; parent: number } {
  try {
    const text =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^\d+ \((.*)\) \S (\d+).*$/s, '$2 $1')
        : execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' })
    const [, above = '0', path = ''] = /^\s*(\d+)\s+(.*?)\s*$/.exec(text) ?? []
    return { command: path.split('/').at(-1) ?? '', parent: Number(above) }
  } catch {
    return { command: '', parent: 0 } // the process has already ended, which `gone` detects
  }
}

function exists(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
