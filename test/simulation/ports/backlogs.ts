import { timeOfUuidV7, type RecordKind } from '@intake/contract'
import type { Backlog, Backlogs } from '@intake/queue'
import { emptyBacklog } from '@intake/test-kit/empty-backlog'
import type { Redis } from '../redis.ts'
import type { Process } from '../scheduler.ts'
import type { World } from '../world.ts'

const timeoutTicks = 100

/**
 * Creates the function with which a worker reads the queues: first feedback and shard 0 of logs,
 * then the other shard. Unlike real workers, simulated workers do not take turns at storing the
 * watermark, and do not count rows.
 */
export function createReadBacklogs(options: {
  world: World
  process: Process
  redis: Redis
}): () => Promise<Backlogs> {
  const { world, process, redis } = options
  const { network, wallMs } = world

  function readBacklog(kind: RecordKind, shard: number): Backlog {
    const jobs = redis.jobs(kind, shard)
    const states = ['waiting', 'active', 'delayed'] as const
    const times = states.flatMap((state) => jobs.ids(state)).map((id) => timeOfUuidV7(id))
    return {
      ...emptyBacklog,
      waiting: jobs.count('waiting'),
      active: jobs.count('active'),
      delayed: jobs.count('delayed'),
      oldestMs: times.length === 0 ? undefined : Math.min(...times),
    }
  }

  const ask = <Value>(read: () => Value): Promise<Value> =>
    network.ask<Value>({
      from: process,
      to: redis.process,
      what: 'read the queues',
      timeoutTicks,
      background: true,
      handle: (answer) => answer(read()),
    })

  return async () => {
    const first = await ask(() => ({
      nowMs: wallMs(),
      logs: readBacklog('logs', 0),
      feedback: readBacklog('feedback', 0),
    }))
    const { nowMs, logs, feedback } = first
    const other = await ask(() => readBacklog('logs', 1))
    const times = [logs, other].flatMap(({ oldestMs }) => oldestMs ?? [])
    return {
      nowMs,
      queues: {
        logs: { ...logs, oldestMs: times.length === 0 ? undefined : Math.min(...times) },
        feedback,
        // Outcomes are not simulated.
        outcomes: emptyBacklog,
      },
      shards: [],
    }
  }
}
