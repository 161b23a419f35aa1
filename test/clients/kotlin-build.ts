import { execFile, type ExecFileException } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const project = fileURLToPath(new URL('../../clients/kotlin/', import.meta.url))

/** The timeout is long: Maven takes minutes if it downloads everything or the machine is busy. */
const options = { timeout: 20 * 60_000, maxBuffer: 64 * 1024 * 1024 }

/** Runs Maven for the Kotlin client; resolves to its output. */
export const buildKotlin = (...args: string[]) =>
  runMaven(['-f', join(project, 'pom.xml'), ...args])

/** Runs Maven with goals and options, such as `test-compile`; resolves to its output. */
export async function runMaven(args: readonly string[], cwd?: string): Promise<string> {
  // Switches the Kotlin daemon off, because it would occupy two gigabytes of memory after the
  // build.
  const settings = ['-B', '-ntp', '-Dkotlin.compiler.daemon=false']
  try {
    return (await run('mvn', [...settings, ...args], { ...options, cwd })).stdout
  } catch (error) {
    const { stdout } = error as ExecFileException & { stdout: string }
    throw new Error(stdout.slice(-20_000), { cause: error })
  }
}

const target = join(project, 'target')
const librariesOf = () => readFileSync(join(target, 'class-path.txt'), 'utf8').trim().split(':')

/**
 * Returns the class path with which a JVM runs the client and its adapter. It contains no classes
 * of Android. Call `buildKotlin('test-compile')` first.
 */
export function kotlinClassPath(): string {
  return [join(target, 'classes'), join(target, 'test-classes'), ...librariesOf()].join(':')
}
