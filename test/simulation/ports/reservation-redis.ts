import type { Reserve } from '@intake/identity'
import type { Redis as RealRedis } from '@intake/redis'
import type { Redis } from '../redis.ts'
import type { Process } from '../scheduler.ts'
import type { World } from '../world.ts'

const commandTimeoutTicks = 50

/** The commands that a gateway's reservations send to Redis. */
export function createReservationCommands(options: {
  world: World
  process: Process
  redis: Redis
}): { reserve: Reserve; redis: RealRedis } {
  const { world, process, redis } = options
  const { code, network, wallMs } = world

  async function command<Result>(what: string, run: () => Result, background = false) {
    const reply = await network.ask<{ result: Result } | 'refused'>({
      from: process,
      to: redis.process,
      what,
      timeoutTicks: commandTimeoutTicks,
      background,
      handle: (answer) => answer(redis.isFull() && !background ? 'refused' : { result: run() }),
    })
    if (reply !== 'refused') return reply.result
    throw new code.redis.ReplyError('OOM command not allowed', 'reserve')
  }

  /**
   * Stubs of the commands that count reservations. A gateway limits memory by these counts, but no
   * simulation reaches the limit.
   */
  const counts = {
    time: () => command('read the time', () => [String(Math.floor(wallMs() / 1_000)), '0'], true),
    multi: () => ({ hincrby() {}, expire: () => ({ exec: () => Promise.resolve([]) }) }),
    hgetall: () => Promise.resolve({}),
  }
  return {
    reserve: (call) => command('reserve a key', () => redis.reservations().reserve(call)),
    redis: counts as unknown as RealRedis,
  }
}
