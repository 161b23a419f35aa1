import { timeOfUuidV7, type RecordKind } from '@intake/contract'
import type { Backlog, Backlogs } from '@intake/queue'
import { emptyBacklog } from '@intake/test-kit/empty-backlog'
import type { Redis } from '../redis.ts'
import type { Process } from '../scheduler.ts'
import type { World } from '../world.ts'

const timeoutTicks = 100

/** What the queues hold, as a worker reads it. Here every worker reads in its own time, and rows are not counted. */
export function createReadBacklogs(options: {
  world: World
  process: Process
  redis: Redis
}): () => Promise<Backlogs> {
  const { world, process, redis } = options
  const { design, network, wallMs } = world

  function readBacklog(kind: RecordKind): Backlog {
    const jobs = redis.jobs(kind)
    const states =
      design.pending === 'all frames'
        ? (['waiting', 'active', 'delayed'] as const)
        : (['waiting'] as const)
    const times = states.flatMap((state) => jobs.ids(state)).map((id) => timeOfUuidV7(id))
    return {
      ...emptyBacklog,
      waiting: jobs.count('waiting'),
      active: jobs.count('active'),
      delayed: jobs.count('delayed'),
      oldestMs: times.length === 0 ? undefined : Math.min(...times),
    }
  }

  return () =>
    new Promise((resolve, reject) => {
      network.call<Backlogs>({
        from: process,
        to: redis.process,
        what: 'read the queues',
        timeoutTicks,
        background: true,
        handle(answer) {
          // Outcomes are not simulated.
          const queues = {
            logs: readBacklog('logs'),
            feedback: readBacklog('feedback'),
            outcomes: emptyBacklog,
          }
          answer({ nowMs: wallMs(), queues })
        },
        done(reply) {
          if (reply.outcome === 'answered') resolve(reply.value)
          else reject(new Error(reply.outcome))
        },
      })
    })
}
