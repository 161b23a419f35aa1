import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { createInterface } from 'node:readline'
import { commandLine } from '@intake/test-kit/command-line'
import type { Cluster } from './cluster.ts'

/** A run of the command `intake`. */
export interface IntakeRun {
  /** Resolves when the command prints a line with `part` on standard error, or has ended. */
  says(part: string): Promise<void>
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** `code` is null if the process was killed. */
  outcome: Promise<{ code: number | null; stdout: string; stderr: string }>
}

/** Runs `intake` like an operator, directly against the services. */
export function startIntake(cluster: Cluster, root: string, args: readonly string[]): IntakeRun {
  const child = spawn(process.execPath, [commandLine(root), ...args], {
    env: {
      ...process.env,
      REDIS_URL: cluster.redis.url(),
      CLICKHOUSE_URL: cluster.clickhouse.url(),
      S3_ENDPOINT: cluster.s3.url(),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const stdout = text(child.stdout)
  const lines: string[] = []
  const waiting = new Map<string, () => void>()
  createInterface(child.stderr).on('line', (line) => {
    lines.push(line)
    for (const [part, resolve] of waiting) if (line.includes(part)) resolve()
  })
  return {
    async says(part) {
      if (lines.some((line) => line.includes(part))) return
      await Promise.race([new Promise<void>((resolve) => waiting.set(part, resolve)), ended])
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    outcome: ended.then(async ([code]) => ({
      code,
      stdout: await stdout,
      stderr: lines.join('\n'),
    })),
  }
}
