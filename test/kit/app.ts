import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { createAppProcess, type AppProcess } from './app-process.ts'

const root = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../../../', import.meta.url)
const main = (name: string) => fileURLToPath(new URL(`${name}/dist/main.js`, root))

/**
 * Starts the built program of a service until the test ends; resolves when it is up.
 *
 * @param options.dataDir gets the log of the process
 * @param options.nodeArgs arguments of Node
 */
export async function startApp(
  t: Pick<Test, 'teardown'>,
  name: 'gateway' | 'worker' | 'console',
  options: { dataDir: string; env: Record<string, string>; nodeArgs?: readonly string[] },
): Promise<AppProcess> {
  const { dataDir, env, nodeArgs = [] } = options
  const app = createAppProcess({
    name,
    args: [...nodeArgs, main(name)],
    env: { [`${name.toUpperCase()}_ADMIN_PORT`]: '0', ...env },
    logFile: join(dataDir, `${name}.log`),
  })
  t.teardown(() => app.kill())
  await app.start()
  return app
}
