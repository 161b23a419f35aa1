import type { ClickHouse } from './clickhouse.ts'
import { lockTicks, type Job } from './jobs.ts'
import { createMergeGathering } from './merge-gathering.ts'
import type { Redis } from './redis.ts'
import { createRowWriter } from './row-writer.ts'
import { createProcess, type Part, type World } from './world.ts'

const concurrency = 8
const mergeLimits = { framesMax: concurrency / 2, bytesMax: 12 }
const lingerTicks = 20
const pollTicks = 12
const patience = 60

/** A worker: take jobs, merge their frames into one insert, complete the jobs. */
export function createWorker(options: {
  world: World
  name: string
  redis: Redis
  clickhouse: ClickHouse
}): Part {
  const { world, redis, clickhouse } = options
  const { design, scheduler, network, coverage } = world
  const process = createProcess(options.name)

  function live(): void {
    const token = `${process.name}/${process.life}`
    const inHand = new Set<string>()
    const gathering = createMergeGathering<{ job: Job; bytes: number }>(mergeLimits)
    const writer = createRowWriter({ world, process, clickhouse })
    let cancelLinger: (() => void) | undefined
    poll()
    repeat('renews its locks', lockTicks / 3, () =>
      command('renew', () => redis.renew([...inHand], token)),
    )
    repeat('looks for stalled jobs', lockTicks / 2, () =>
      command('recover stalled jobs', () => redis.recoverStalled()),
    )

    function poll(): void {
      repeat('polls', pollTicks, () => {
        if (inHand.size >= concurrency) return
        command(
          'take a job',
          () => redis.take(token),
          (job) => job && park(job),
        )
      })
    }

    function park(job: Job): void {
      inHand.add(job.id)
      gathering.add({ job, bytes: job.rows.length })
      schedule()
    }

    function schedule(): void {
      const due = gathering.isDue()
      if (due === 'now') insert()
      else if (due === 'soon') {
        const linger = { of: process, what: 'has lingered', after: lingerTicks, run: insert }
        cancelLinger ??= scheduler.plan(linger)
      }
    }

    function insert(): void {
      cancelLinger?.()
      cancelLinger = undefined
      const jobs = gathering.take().map(({ job }) => job)
      if (jobs.length > 1) coverage['inserts of several frames']++
      const complete = () => {
        for (const job of jobs) completeJob(job)
      }
      if (design.complete === 'before the insert') complete()
      writer.write(jobs, () => {
        if (design.complete === 'after the insert') complete()
        gathering.settled()
        schedule()
      })
    }

    function completeJob({ id }: Job): void {
      network.call({
        from: process,
        to: redis.process,
        what: `complete ${id}`,
        patience,
        handle: (answer) => answer(redis.complete(id, token)),
        // Without an answer the job is left to the recovery of stalled jobs.
        done: () => inHand.delete(id),
      })
    }
  }

  function repeat(what: string, after: number, run: () => void): void {
    const again = () => {
      run()
      repeat(what, after, run)
    }
    scheduler.plan({ of: process, what, after, kind: 'background', run: again })
  }

  /** A command of the housekeeping: if it fails, the next one may succeed. */
  function command<Answer>(
    what: string,
    run: () => Answer,
    use: (value: Answer) => unknown = () => {},
  ): void {
    network.call<Answer>({
      from: process,
      to: redis.process,
      what,
      patience,
      background: true,
      handle: (answer) => answer(run()),
      done: (reply) => reply.outcome === 'answered' && use(reply.value),
    })
  }

  return { process, start: live }
}
