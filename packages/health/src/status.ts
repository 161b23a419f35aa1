import { version } from '@intake/runtime'
import { isReady, type Problem, type Problems } from './problems.ts'

export interface Status {
  service: string
  state: 'ok' | 'degraded' | 'down'
  /** All problems, in the order of `byCause`. */
  problems: Problem[]
  ready: boolean
  version: string
  node: string
  /** An ISO time. */
  started_at: string
}

const startedAt = new Date(performance.timeOrigin).toISOString()

export function readStatus(service: string, { present }: Pick<Problems, 'present'>): Status {
  const problems = present()
  const ready = isReady(problems)
  const state = !ready ? 'down' : problems.length > 0 ? 'degraded' : 'ok'
  const node = process.versions.node
  return { service, state, problems, ready, version, node, started_at: startedAt }
}
