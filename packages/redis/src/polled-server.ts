import type { Redis } from './connect.ts'
import { readDurability, type Durability } from './durability/durability.ts'
import type { Primary } from './servers.ts'
import { readState, type RedisState, type StateOptions } from './state.ts'

const configIntervalMs = 3_000
/** A server that has not responded for this long counts as frozen. */
const silentAfterMs = 5_000

/** The only server, or a server of a cluster, with what was last read of it. */
export class PolledServer {
  state: RedisState | undefined
  respondedAt: number
  /** A hash tag whose keys the server holds. */
  tag: string
  readonly #redis: Redis
  readonly #options: StateOptions
  #durability: Durability = { violations: [], isUnreadable: false }
  #configReadAt = -Infinity
  /** The reading in progress. */
  #reading: Promise<void> | undefined

  /** @param respondedAt in milliseconds of `performance.now()` */
  constructor(redis: Redis, options: Partial<StateOptions> & { tag: string; respondedAt: number }) {
    const { replicasMin = 0, assertsDurability = false, tag, respondedAt } = options
    this.#redis = redis
    this.#options = { replicasMin, assertsDurability }
    this.tag = tag
    this.respondedAt = respondedAt
  }

  /** Reads the state, and every three seconds the configuration too. One reading runs at a time. */
  read(): Promise<void> {
    return (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)))
  }

  /** Makes the next reading read the configuration. */
  forgetConfig(): void {
    this.#configReadAt = -Infinity
  }

  silentMs(): number {
    return performance.now() - this.respondedAt
  }

  isSilent(): boolean {
    return this.silentMs() > silentAfterMs
  }

  async #read(): Promise<void> {
    this.state = await readState(this.#redis, {
      ...this.#options,
      tag: this.tag,
      previous: this.state,
      readDurability: (primary) => this.#readDurability(primary),
    })
    this.respondedAt = performance.now()
  }

  async #readDurability(primary: Primary): Promise<Durability> {
    if (performance.now() - this.#configReadAt < configIntervalMs) return this.#durability
    this.#durability = await readDurability([primary])
    this.#configReadAt = performance.now()
    return this.#durability
  }
}
