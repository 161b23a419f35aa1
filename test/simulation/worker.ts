import type { ClickHouse } from './clickhouse.ts'
import { lockTicks, type Job } from './jobs.ts'
import type { Redis } from './redis.ts'
import { createRowWriter } from './row-writer.ts'
import { createProcess, type Part, type World } from './world.ts'

const batchLimits = { framesMax: 4, rowsMax: 12 }
const pollTicks = 12
const timeoutTicks = 60

/** A worker: claim a batch of jobs, insert their rows together, complete the jobs. */
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
    const writer = createRowWriter({ world, process, clickhouse })
    poll()
    repeat('renews its locks', lockTicks / 3, () =>
      command('renew', () => redis.renew([...inHand], token)),
    )
    repeat('looks for stalled jobs', lockTicks / 2, () =>
      command('recover stalled jobs', () => redis.recoverStalled()),
    )

    function poll(): void {
      scheduler.plan({
        of: process,
        what: 'polls',
        after: pollTicks,
        kind: 'background',
        run: () => take([]),
      })
    }

    /** One at a time, until none waits or the batch is full. */
    function take(batch: Job[]): void {
      network.call<Job | undefined>({
        from: process,
        to: redis.process,
        what: 'take a job',
        timeoutTicks,
        background: true,
        handle: (answer) => answer(redis.take(token)),
        done(reply) {
          const job = reply.outcome === 'answered' ? reply.value : undefined
          if (job !== undefined) {
            inHand.add(job.id)
            batch.push(job)
          }
          if (job !== undefined && !isFull(batch)) take(batch)
          else if (batch.length > 0) insert(batch)
          else poll()
        },
      })
    }

    function insert(jobs: Job[]): void {
      if (jobs.length > 1) coverage['inserts of several frames']++
      const complete = () => {
        for (const job of jobs) completeJob(job)
      }
      if (design.complete === 'before the insert') complete()
      writer.write(jobs, () => {
        if (design.complete === 'after the insert') complete()
        poll()
      })
    }

    function completeJob({ id }: Job): void {
      network.call({
        from: process,
        to: redis.process,
        what: `complete ${id}`,
        timeoutTicks,
        handle: (answer) => answer(redis.complete(id, token)),
        // Without a response, the recovery of stalled jobs returns the job.
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

  /** A maintenance command: if it fails, the next one may succeed. */
  function command(what: string, run: () => void): void {
    network.call<void>({
      from: process,
      to: redis.process,
      what,
      timeoutTicks,
      background: true,
      handle: (answer) => answer(run()),
      done: () => {},
    })
  }

  return { process, start: live }
}

function isFull(batch: readonly Job[]): boolean {
  const rows = batch.reduce((sum, job) => sum + job.rows.length, 0)
  return batch.length >= batchLimits.framesMax || rows >= batchLimits.rowsMax
}
