import { readClock } from './clock.ts'
import type { Redis, Server } from './connect.ts'
import { readDurability, type Durability } from './durability/durability.ts'
import { readInstallation } from './installation.ts'
import { infoField } from './replies.ts'
import { mainTag, primariesOf, type Primary } from './servers.ts'
import type { PollOptions, RedisState } from './state.ts'
import { describeRefusalOf, findWriteRefusal } from './write-refusal.ts'

const configIntervalMs = 3_000

/** The values besides `writeRefusal` while every poll so far has been refused by the server. */
const unknown: Omit<RedisState, 'writeRefusal'> = {
  durabilityViolations: [],
  isDurabilityAsserted: false,
  memoryUsed: 0,
  memoryBytesMax: Infinity,
  fullestServer: undefined,
  installation: null,
  clock: undefined,
}

const unreadable =
  'Redis hides its settings (CONFIG GET); if they are correct, set REDIS_DURABILITY=asserted'

export type PolledServer = ReturnType<typeof createPolledServer>

/** @param options.respondedAt in milliseconds of `performance.now()` */
export function createPolledServer(
  redis: Redis,
  options: Omit<PollOptions, 'tags'> & { tag: string; respondedAt: number },
) {
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

  /**
   * If the server refuses writes or a read, all but `writeRefusal` remains as it was. Only the
   * server of `{intake}` is asked for the installation and the time.
   *
   * @throws when the server does not respond
   */
  async function readState(): Promise<RedisState> {
    const { tag, state: previous = unknown } = server
    const isMain = tag === mainTag
    try {
      const writeRefusal = await findWriteRefusal(redis, { tags: [tag], replicasMin })
      // If the server is a replica, its connection is being closed, so nothing more can be read.
      if (writeRefusal !== undefined) return { ...previous, writeRefusal }
      const [primary] = primariesOf(redis, [tag]) as [Primary]
      const { violations, isUnreadable } = await readDurabilityAtTimes(primary)
      const [memory, installation] = await Promise.all([
        readMemory(primary.redis),
        isMain ? readInstallation(redis) : null,
      ])
      // No other command is pending, so that the round trip is as short as possible.
      const clock = isMain ? await readClock(primary.redis) : undefined
      return {
        writeRefusal,
        durabilityViolations:
          isUnreadable && !assertsDurability ? [...violations, unreadable] : violations,
        isDurabilityAsserted: isUnreadable && assertsDurability,
        ...memory,
        fullestServer: primary.name,
        installation,
        clock,
      }
    } catch (error) {
      return { ...previous, writeRefusal: describeRefusalOf(redis, tag, error) }
    }
  }

  async function readOnce(): Promise<void> {
    server.state = await readState()
    respondedAt = performance.now()
  }

  const server = {
    state: undefined as RedisState | undefined,
    /** A hash tag whose keys the server holds. */
    tag: options.tag,
    /** Reads the state, and every three seconds the configuration too. One reading runs at a time. */
    read: (): Promise<void> => (reading ??= readOnce().finally(() => (reading = undefined))),
    /** Makes the next reading read the configuration. */
    forgetConfig: () => void (configReadAt = -Infinity),
    silentMs: () => performance.now() - respondedAt,
  }
  return server
}

async function readMemory(
  server: Server,
): Promise<Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'>> {
  const info = await server.info('memory')
  const field = (name: string) => Number(infoField(info, name) ?? 0)
  const memoryBytesMax = field('maxmemory') || field('total_system_memory') || Infinity
  return { memoryUsed: field('used_memory') / memoryBytesMax, memoryBytesMax }
}
