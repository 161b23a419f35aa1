import { execFile, type ExecFileException } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const project = fileURLToPath(new URL('../../clients/kotlin/', import.meta.url))

const r8 = 'com.android.tools:r8:8.9.35'
/** Maven takes minutes when it has to fetch everything, or the machine is busy. */
const options = { timeout: 20 * 60_000, maxBuffer: 64 * 1024 * 1024 }

/**
 * Runs Maven for the Kotlin client; resolves to what it printed.
 *
 * @param args what to do, such as `test-compile`
 */
export async function buildKotlin(...args: string[]): Promise<string> {
  // Without its daemon: that would keep two gigabytes after the build.
  const settings = ['-B', '-ntp', '-Dkotlin.compiler.daemon=false', '-f', join(project, 'pom.xml')]
  try {
    return (await run('mvn', [...settings, ...args], options)).stdout
  } catch (error) {
    const { stdout } = error as ExecFileException & { stdout: string }
    throw new Error(stdout.slice(-20_000), { cause: error })
  }
}

const target = join(project, 'target')
const librariesOf = () => readFileSync(join(target, 'class-path.txt'), 'utf8').trim().split(':')

/** What a JVM needs to run the client and its adapter, after `test-compile`; nothing of Android. */
export function kotlinClassPath(): string {
  return [join(target, 'classes'), join(target, 'test-classes'), ...librariesOf()].join(':')
}

/**
 * The client and its adapter as R8 makes them smaller for an app, by the rules that are in the
 * library; after `package`. Resolves to their class path.
 *
 * @param dir an empty folder
 */
export async function shrinkKotlin(dir: string): Promise<string> {
  await buildKotlin('-q', 'dependency:copy', `-Dartifact=${r8}`, `-DoutputDirectory=${dir}`)
  const [jar, app, rules] = [join(dir, 'r8-8.9.35.jar'), join(dir, 'app.jar'), join(dir, 'app.pro')]
  await run('jar', ['cf', app, '-C', join(target, 'test-classes'), 'intake/client/adapter'])
  writeFileSync(
    rules,
    '-keep class intake.client.adapter.MainKt { void main(java.lang.String[]); }',
  )
  const { stderr } = await run('java', ['-XshowSettings:properties', '-version'])
  const [, home = ''] = /java\.home = (.*)$/m.exec(stderr) ?? []
  const own = join(target, 'classes/META-INF/proguard/intake.pro')
  const inputs = [app, join(target, 'intake-client-0.1.0.jar'), ...librariesOf()]
  const shrunk = join(dir, 'shrunk.jar')
  const flags = ['--classfile', '--release', '--lib', home, '--pg-conf', rules, '--pg-conf', own]
  const command = ['-cp', jar, 'com.android.tools.r8.R8', ...flags, '--output', shrunk, ...inputs]
  await run('java', command, options)
  return shrunk
}
