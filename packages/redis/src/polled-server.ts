import type { Redis } from './connect.ts'
import { readDurability, type Durability } from './durability/durability.ts'
import type { Primary } from './servers.ts'
import { readState, type RedisState, type StateOptions } from './state.ts'

const configIntervalMs = 3_000

export interface PolledServer {
  state: RedisState | undefined
  /** A hash tag whose keys the server holds. */
  tag: string
  /** Reads the state, and every three seconds the configuration too. One reading runs at a time. */
  read(): Promise<void>
  /** Makes the next reading read the configuration. */
  forgetConfig(): void
  silentMs(): number
}

/** @param options.respondedAt in milliseconds of `performance.now()` */
export function createPolledServer(
  redis: Redis,
  options: Partial<StateOptions> & { tag: string; respondedAt: number },
): PolledServer {
  const { replicasMin = 0, assertsDurability = false } = options
  let { respondedAt } = options
  let durability: Durability = { violations: [], isUnreadable: false }
  let configReadAt = -Infinity
  let reading: Promise<void> | undefined

  async function readDurabilityAtTimes(primary: Primary): Promise<Durability> {
    if (performance.now() - configReadAt < configIntervalMs) return durability
    durability = await readDurability(primary)
    configReadAt = performance.now()
    return durability
  }

  async function readOnce(): Promise<void> {
    server.state = await readState(redis, {
      replicasMin,
      assertsDurability,
      tag: server.tag,
      previous: server.state,
      readDurability: readDurabilityAtTimes,
    })
    respondedAt = performance.now()
  }

  const server: PolledServer = {
    state: undefined,
    tag: options.tag,
    read: () => (reading ??= readOnce().finally(() => (reading = undefined))),
    forgetConfig: () => void (configReadAt = -Infinity),
    silentMs: () => performance.now() - respondedAt,
  }
  return server
}
