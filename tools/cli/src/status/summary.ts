import { byCause } from '@intake/health/problem-catalogue'
import type { State } from '../state.ts'
import type { Address } from './addresses.ts'
import { resolveProcesses } from './resolve.ts'
import { askService, type AskedService } from './service-status.ts'

/** Each worker reads the queues at another moment, so these are combined by their code alone. */
const sharedCodes: ReadonlySet<string> = new Set([
  'queue_paused',
  'backlog',
  'dead_letters',
  'frame_postponed',
])

export interface SharedProblem {
  code: string
  /** When the first process noticed the problem, as an ISO time. */
  since: string
  detail: string
  help: string
  /** The admin ports that report the problem. */
  from: string[]
}

/** The state of the whole deployment, as `intake status --json` prints it. */
export interface Summary {
  state: State
  /** All problems, in the order of `byCause`. */
  problems: SharedProblem[]
  services: AskedService[]
}

export async function summarize(addresses: readonly Address[]): Promise<Summary> {
  const processes = await Promise.all(addresses.map((address) => resolveProcesses(address)))
  const services = await Promise.all(processes.flat().map(askService))
  return { state: stateOfAll(services), problems: shareProblems(services), services }
}

/** `down` if all gateways or all workers are down; `degraded` if any process has a problem. */
function stateOfAll(services: readonly AskedService[]): State {
  if (services.every(({ state }) => state === 'ok')) return 'ok'
  const isDown = (name: string) => {
    const ofService = services.filter(({ service }) => service === name)
    return ofService.length > 0 && ofService.every(({ state }) => state === 'down')
  }
  return isDown('gateway') || isDown('worker') ? 'down' : 'degraded'
}

function shareProblems(services: readonly AskedService[]): SharedProblem[] {
  const shared = new Map<string, SharedProblem>()
  for (const { url, problems } of services) {
    for (const { code, since, detail, help } of problems) {
      // Ignores numbers in details. Two processes can report the same problem with different times
      // or counts, because they notice it at different moments.
      const key = sharedCodes.has(code) ? code : `${code} ${detail.replaceAll(/\d+/g, '')}`
      const known = shared.get(key) ?? { code, since, detail, help, from: [] }
      known.from.push(url)
      if (since < known.since) known.since = since
      shared.set(key, known)
    }
  }
  return [...shared.values()].toSorted(byCause)
}
