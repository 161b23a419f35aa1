import type { RecordKind } from '@intake/contract'
import type { ClaimedJob, JobSource } from '@intake/queue/consume'
import type { Job, Jobs } from '../jobs.ts'
import type { Redis } from '../redis.ts'
import type { Process } from '../scheduler.ts'
import { tickMs } from '../time.ts'
import type { World } from '../world.ts'

const socketTimeoutTicks = 150
const reconnectTicks = 5
const stalledIntervalTicks = 75

/**
 * A queue as a worker uses it, for one life of the worker. While Redis is down, commands wait;
 * commands without a reply are resent.
 */
export function createJobSource(options: {
  world: World
  process: Process
  redis: Redis
  kind: RecordKind
  shard?: number | undefined
}): JobSource {
  const { world, process, redis, kind, shard } = options
  const { network, scheduler, serial } = world
  const tokens = new WeakMap<ClaimedJob, string>()
  const tokenOf = (job: ClaimedJob) => tokens.get(job)!
  const createToken = () => `${process.name}/${process.life}/${serial()}`

  function handleOf(job: Job | undefined, token: string): ClaimedJob | undefined {
    if (job === undefined) return undefined
    const handle: ClaimedJob = { id: job.id, data: job.data, attempts: job.deliveries }
    tokens.set(handle, token)
    return handle
  }

  function command<Result>(
    what: string,
    run: (jobs: Jobs) => Result,
    background = false,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const send = () =>
        network.call<{ result: Result } | { error: Error }>({
          from: process,
          to: redis.process,
          what,
          timeoutTicks: socketTimeoutTicks,
          background,
          handle(answer) {
            try {
              answer({ result: run(redis.jobs(kind, shard)) })
            } catch (error) {
              answer({ error: error as Error })
            }
          },
          done(reply) {
            if (reply.outcome !== 'answered') resend()
            else if ('error' in reply.value) reject(reply.value.error)
            else resolve(reply.value.result)
          },
        })
      const resend = () =>
        scheduler.plan({
          of: process,
          what: `${what}, again`,
          after: reconnectTicks,
          kind: 'background',
          run: send,
        })
      send()
    })
  }

  function recoverStalled(): void {
    void command('recover stalled jobs', (jobs) => jobs.recoverStalled(), true)
    scheduler.plan({
      of: process,
      what: 'looks for stalled jobs',
      after: stalledIntervalTicks,
      kind: 'background',
      run: recoverStalled,
    })
  }
  recoverStalled()

  return {
    peek: () =>
      command('peek', (jobs) => ({ count: jobs.count('waiting'), oldest: jobs.oldest() }), true),

    hasPostponed: () =>
      command('look for postponed jobs', (jobs) => jobs.count('delayed') > 0, true),

    async claim() {
      const token = createToken()
      return handleOf(await command('claim a job', (jobs) => jobs.claim(token)), token)
    },

    async complete(job, { claimNext }) {
      const token = createToken()
      const next = await command(`complete ${job.id}`, (jobs) => {
        jobs.complete(job.id, tokenOf(job))
        return claimNext ? jobs.claim(token) : undefined
      })
      return handleOf(next, token)
    },

    postpone: (job, ms) =>
      command(`postpone ${job.id}`, (jobs) =>
        jobs.postpone(job.id, tokenOf(job), Math.ceil(ms / tickMs)),
      ),

    release: (job) => command(`release ${job.id}`, (jobs) => jobs.release(job.id, tokenOf(job))),

    renew: (claimed) =>
      command(
        'renew locks',
        (jobs) => claimed.flatMap((job) => jobs.renew([job.id], tokenOf(job))),
        true,
      ),

    close: () => Promise.resolve(),
  }
}
