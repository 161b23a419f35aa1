import { helpOf, type ProblemCode } from '@intake/health/problem-catalogue'
import type { AppProcess } from '@intake/test-kit/app-process'
import { until } from '@intake/test-kit/until'
import type { Prometheus } from '../observability/prometheus.ts'

export const ways = ['metric', 'status', 'log', 'alert'] as const
export type Way = (typeof ways)[number]

const requestMs = 5_000

async function get(app: AppProcess, path: string): Promise<string> {
  const signal = AbortSignal.timeout(requestMs)
  return (await fetch(`${app.adminUrl()}${path}`, { signal })).text()
}

/**
 * Returns one function for each way of reporting a problem: metric, status, log and alert. Each
 * function checks whether the problem is reported in its way.
 */
export function createObserver(options: {
  app: AppProcess
  code: ProblemCode
  prometheus: Prometheus | undefined
}): Record<Way, () => Promise<boolean>> {
  const { app, code, prometheus } = options
  const linesBefore = app.log.length
  const isLine = (line: AppProcess['log'][0]) =>
    Number(line.level) >= 40 && (line['problem'] === code || line['help'] === helpOf(code))
  return {
    metric: async () => (await get(app, '/metrics')).includes(`intake_problem{code="${code}"} 1`),
    async status() {
      const { problems } = JSON.parse(await get(app, '/status')) as {
        problems: { code: string }[]
      }
      return problems.some((problem) => problem.code === code)
    },
    log: async () => app.log.slice(linesBefore).some(isLine),
    async alert() {
      const alerts = (await prometheus?.alerts()) ?? []
      return alerts.some(({ labels, state }) => labels['code'] === code && state === 'firing')
    },
  }
}

/**
 * Whether the last log line about the problem reports the problem, not its end. A process does not
 * log a problem again before it has logged the end of the problem.
 */
export function isOpen(app: AppProcess, code: ProblemCode): boolean {
  const line = app.log.findLast(({ problem }) => problem === code)
  return Number(line?.level ?? 0) >= 40
}

/**
 * Resolves to the seconds until the condition holds; undefined if it does not hold within
 * `limitSeconds`.
 */
export async function secondsUntil(
  condition: () => Promise<boolean>,
  limitSeconds: number,
): Promise<number | undefined> {
  const began = performance.now()
  const elapsed = () => (performance.now() - began) / 1_000
  const shown = async () => {
    const holds = await condition().catch(() => false)
    if (holds) return { seconds: elapsed() }
    return elapsed() > limitSeconds && { seconds: undefined }
  }
  const { seconds } = await until('it shows', shown, { progress: elapsed })
  return seconds
}
