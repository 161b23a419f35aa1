import { helpOf } from '@intake/health/problem-catalogue'
import type { State } from '../state.ts'
import type { Address } from './addresses.ts'

type ByKind<Value> = Record<string, Value>

interface Problem {
  code: string
  since: string
  detail: string
  help: string
}

/**
 * The members of `/status` that the command uses. With `--json` the command also prints all other
 * members.
 */
export interface ServiceStatus {
  service: Address['service']
  state: State
  problems: Problem[]
  version: string
  started_at: string
  accepted_per_second?: ByKind<number>
  refused_per_second?: number
  requests_in_flight?: number
  connections?: { open: number; max: number }
  redis?: { memory_used_bytes: number; memory_max_bytes: number } | null
  backlog?: ByKind<{
    frames: { waiting: number; active: number; delayed: number }
    rows: number
    paused: boolean
    oldest_age_seconds: number | null
    drain_seconds: number | null
  } | null>
  /**
   * From a gateway: the number of shards, and the shards to which it currently adds no frames. From
   * a worker: what each shard holds.
   */
  queue_shards?:
    { count: number; unused: number[] } | { shard: number; frames: number; rows: number }[] | null
  /**
   * The rules that a gateway follows. `matches` counts the records that a rule has acted on since
   * the gateway started.
   */
  rules?: { id: string; matches: number }[]
  stored_per_second?: ByKind<number>
  insert_in_progress_seconds?: ByKind<number>
  dead_letters?: ByKind<number> | null
  visible_until?: ByKind<string | null> | null
  no_thumbnails?: string | null
}

/** A gateway or worker with its status. If it does not respond, that is its only problem. */
export type AskedService = Address & (ServiceStatus | Unresponsive)

export interface Unresponsive {
  state: 'down'
  problems: Problem[]
}

const timeoutMs = 3_000

/**
 * Asks a process for its status. If the process gives no valid status, the result has the problem
 * `process_ends`.
 */
export async function askService(address: Address): Promise<AskedService> {
  try {
    const response = await fetch(`${address.url}/status`, {
      signal: AbortSignal.timeout(timeoutMs),
    })
    const status: unknown = await response.json()
    if (!isStatus(status)) return unresponsive(address, 'another program responds there')
    if (status.service === address.service) return { ...address, ...status }
    return unresponsive(address, `a ${status.service} responds there`)
  } catch (error) {
    const { message, cause } = error as Error
    return unresponsive(address, cause instanceof Error ? cause.message || String(cause) : message)
  }
}

/** Whether something is a status. Its other members are not examined: all processes have one version. */
const isStatus = (value: unknown): value is ServiceStatus =>
  typeof value === 'object' &&
  value !== null &&
  'service' in value &&
  'version' in value &&
  'problems' in value &&
  Array.isArray(value.problems)

function unresponsive(address: Address, reason: string): AskedService {
  const detail = `no status of the ${address.service} at ${address.url}: ${reason}`
  const since = new Date().toISOString()
  const problem = { code: 'process_ends', since, detail, help: helpOf('process_ends') }
  return { ...address, state: 'down', problems: [problem] }
}

export const isResponsive = (service: AskedService): service is Address & ServiceStatus =>
  'version' in service
