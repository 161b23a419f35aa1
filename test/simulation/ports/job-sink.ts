import type { RecordKind } from '@intake/contract'
import type { Frame } from '@intake/queue'
import type { JobSink } from '@intake/queue/produce'
import type { Redis } from '../redis.ts'
import type { Process } from '../scheduler.ts'
import type { World } from '../world.ts'

const commandTimeoutTicks = 50
const reconnectTicks = 5

/** A queue as a gateway uses it, for one life of the gateway. */
export function createJobSink(options: {
  world: World
  process: Process
  redis: Redis
  kind: RecordKind
  shard?: number | undefined
}): JobSink {
  const { world, process, redis, kind, shard } = options
  const { code, coverage, network, scheduler, serial } = world
  let hasConnected = false
  const names = new Map<string, string>()

  /** Replaces the random part of an id: shards compare ids, and their order must follow from the seed. */
  function nameOf(id: string): string {
    const digits = String(serial()).padStart(12, '0')
    const name = names.get(id) ?? `${id.slice(0, 14)}7000-8000-${digits}${id.slice(36)}`
    names.set(id, name)
    return name
  }

  function whenRunning(run: () => void): void {
    if (redis.process.state !== 'down') return run()
    const again = () => whenRunning(run)
    scheduler.plan({
      of: process,
      what: 'connects',
      after: reconnectTicks,
      kind: 'background',
      run: again,
    })
  }

  return {
    async ready() {
      // If Redis is down, the first call waits for it, and later calls fail at once.
      if (!hasConnected) await new Promise<void>((resolve) => whenRunning(resolve))
      hasConnected = true
      if (redis.process.state === 'down') throw new Error('not connected')
    },

    async add(id, data) {
      const { rows } = data as Frame
      if (rows > 1) coverage['frames of several rows']++
      const name = nameOf(id)
      const reply = await network.ask<'stored' | 'refused'>({
        from: process,
        to: redis.process,
        what: `add ${name} with ${rows} rows`,
        timeoutTicks: commandTimeoutTicks,
        handle(answer) {
          if (redis.isFull()) return answer('refused')
          redis.jobs(kind, shard).add(name, data)
          answer('stored')
        },
      })
      if (reply === 'refused') throw new code.redis.ReplyError('OOM command not allowed', 'add')
    },

    close: () => Promise.resolve(),
  }
}
