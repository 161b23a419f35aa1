import type { ProblemState } from '@intake/health/problem-catalogue'

export type State = 'ok' | 'degraded' | 'down'

export const exitCodes: Record<State, number> = { ok: 0, degraded: 2, down: 3 }

export const exitCodeHelp =
  'Exit codes: 0 ok, 2 degraded, 3 down, 1 the command itself failed or was used wrongly.'

export function stateOf(problems: readonly { state: ProblemState }[]): State {
  if (problems.length === 0) return 'ok'
  return problems.some(({ state }) => state === 'down') ? 'down' : 'degraded'
}
