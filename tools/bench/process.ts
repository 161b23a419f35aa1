import { createAppProcess, type AppProcessOptions } from '@intake/test-kit/app-process'
import type { Owner } from './owner.ts'

/**
 * The process of a gateway or a worker: of Intake, or of a baseline (folder `baselines/`).
 */
export interface BenchProcess {
  name: string
  pid: number
  adminUrl(): string
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
  return { name: app.name, pid: app.pid(), adminUrl: app.adminUrl, stop }
}
