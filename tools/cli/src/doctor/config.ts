import { ConsoleConfig, GatewayConfig, WorkerConfig } from '@intake/config'
import { loadConfig } from '@intake/runtime/config'
import { problemsOf } from '@intake/runtime'
import { finding, type Finding } from './finding.ts'

export function findConfigProblems(env: Record<string, string | undefined>): Finding[] {
  const services = {
    gateway: () => loadConfig(GatewayConfig, env),
    worker: () => loadConfig(WorkerConfig, env),
    console: () => loadConfig(ConsoleConfig, env),
  }
  const problems = new Map<string, string[]>()
  for (const [service, check] of Object.entries(services)) {
    for (const problem of problemsOf(check)) {
      problems.set(problem, [...(problems.get(problem) ?? []), service])
    }
  }
  return [...problems].map(([problem, names]) =>
    finding(
      'configuration',
      `${names.join(' and ')}: ${problem}`,
      'Change it in the environment of the process (docs/configuration.md lists every setting).',
    ),
  )
}
