import { createAppProcess, type AppProcessOptions } from '@intake/test-kit/app-process'
import type { Owner } from './owner.ts'

/**
 * The process of a gateway or a worker: of Intake, of a baseline (folder `baselines/`) or Benthos.
 */
export interface BenchProcess {
  name: string
  readonly pid: number
  adminUrl(): string
  /** Sends SIGKILL and starts the program again, with another pid. */
  crash(): Promise<void>
  stop(): Promise<void>
}

export async function startProcess(
  options: AppProcessOptions & { owner: Owner },
): Promise<BenchProcess> {
  const { owner } = options
  owner.signal.throwIfAborted()
  const app = createAppProcess({
    ...options,
    env: { NODE_ENV: 'production', ...options.env },
    startMs: 30_000,
  })
  const stop = async () => void (await app.terminate())
  owner.add(stop)
  await app.start()
  return {
    name: app.name,
    get pid() {
      return app.pid()
    },
    adminUrl: app.adminUrl,
    async crash() {
      await app.kill()
      await app.start()
    },
    stop,
  }
}
