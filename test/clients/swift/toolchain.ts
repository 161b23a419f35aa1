import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startLineProcess } from '../../../clients/javascript/adapters/start-process.ts'

const run = promisify(execFile)
export const packageDir = fileURLToPath(new URL('../../..', import.meta.url))
/**
 * The command that runs Swift. Its last word is the program `swift`. The words before it can run
 * any program, for example in a container.
 */
const words = (process.env['SWIFT'] ?? 'swift').split(' ')
/** The timeout is long enough for a first build on a slow machine. */
const options = { timeout: 9 * 60_000, maxBuffer: 64 * 1024 * 1024 }

/** Runs a command of Swift's package manager for the package in a folder; returns its output. */
export async function runSwift(dir: string, command: string, ...args: string[]): Promise<string> {
  const [program = '', ...rest] = [...words, command, '--package-path', dir, ...args]
  const { stdout, stderr } = await run(program, rest, options)
  return stdout + stderr
}

export async function programPath(dir: string, name: string, ...args: string[]): Promise<string> {
  const output = await runSwift(dir, 'build', '--show-bin-path', ...args)
  const folder = output.split('\n').findLast((line) => line.startsWith('/')) ?? ''
  return join(folder, name)
}

/** Builds the program that runs a client, and returns its path. The build is optimized. */
export async function buildDriven(): Promise<string> {
  const name = 'intake-driven'
  await runSwift(packageDir, 'build', '-c', 'release', '--product', name)
  return programPath(packageDir, name, '-c', 'release')
}

/** Returns the command line that runs a built program. */
export function programCommand(path: string, ...args: string[]): [string, string[]] {
  const [command = '', ...rest] = [...words.slice(0, -1), path, ...args]
  return [command, rest]
}

/** Starts a process with a client, from `buildDriven`. */
export const startDrivenProcess = (program: string) => startLineProcess(...programCommand(program))
