import { kinds, type RecordKind } from '@intake/contract'
import type { PendingRecords } from '@intake/queue'
import { timeOfUuidV7 } from '../../../gateway/src/identity/identity.ts'
import type { Redis } from '../redis.ts'
import type { Process } from '../scheduler.ts'
import type { World } from '../world.ts'

const timeoutTicks = 100

/** What the queues hold, as a worker reads it. Here every worker reads in its own time. */
export function createReadPending(options: {
  world: World
  process: Process
  redis: Redis
}): () => Promise<PendingRecords> {
  const { world, process, redis } = options
  const { design, network, wallMs } = world

  function oldestMs(kind: RecordKind): number {
    const states =
      design.pending === 'all frames'
        ? (['waiting', 'active', 'delayed'] as const)
        : (['waiting'] as const)
    const ids = states.flatMap((state) => redis.jobs(kind).ids(state))
    return Math.min(Infinity, ...ids.map(timeOfUuidV7))
  }

  return () =>
    new Promise((resolve, reject) => {
      network.call<PendingRecords>({
        from: process,
        to: redis.process,
        what: 'read the queues',
        timeoutTicks,
        background: true,
        handle(answer) {
          const times = kinds.map((kind) => [kind, oldestMs(kind)] as const)
          const oldest = Object.fromEntries(times) as Record<RecordKind, number>
          answer({ nowMs: wallMs(), oldestMs: oldest })
        },
        done(reply) {
          if (reply.outcome === 'answered') resolve(reply.value)
          else reject(new Error(reply.outcome))
        },
      })
    })
}
