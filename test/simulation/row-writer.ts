import type { ClickHouse, InsertAnswer } from './clickhouse.ts'
import type { Job } from './jobs.ts'
import { createId, timeOf, type Row } from './row.ts'
import type { Process } from './scheduler.ts'
import type { World } from './world.ts'

export interface RowWriter {
  /** Repeats the insert of all rows of the jobs until it is confirmed. */
  write(jobs: readonly Job[], done: () => void): void
}

const timeoutTicks = 80
const pauseTicks = 15

/** Stores the rows of jobs as `store-batch.ts` does: without checking, until it is confirmed. */
export function createRowWriter(options: {
  world: World
  process: Process
  clickhouse: ClickHouse
}): RowWriter {
  const { world, process, clickhouse } = options
  const { design, scheduler, network, serial } = world

  function write(jobs: readonly Job[], done: () => void): void {
    const rows = jobs.flatMap((job) => job.rows.map(withIdentity))
    attempt()

    function attempt(): void {
      if (design.beforeInsert === 'nothing') insert(rows)
      else look()
    }

    function look(): void {
      network.call<Set<string>>({
        from: process,
        to: clickhouse.process,
        what: 'find rows',
        timeoutTicks,
        handle: (answer) => answer(clickhouse.find(rows.map(({ id }) => id))),
        done: (reply) => {
          if (reply.outcome !== 'answered') return repeat()
          const missing = rows.filter(({ id }) => !reply.value.has(id))
          const isAnyThere = missing.length < rows.length
          if (missing.length === 0) return done()
          if (isAnyThere && design.beforeInsert === 'skip if any row is there') return done()
          insert(missing)
        },
      })
    }

    function insert(toInsert: Row[]): void {
      network.call<InsertAnswer>({
        from: process,
        to: clickhouse.process,
        what: `insert of ${jobs.map(({ id }) => id).join(' ')}`,
        timeoutTicks,
        handle: (answer) => clickhouse.insert({ rows: toInsert, token: insertToken(jobs) }, answer),
        done: (reply) => {
          if (reply.outcome === 'answered' && isEnough(reply.value, toInsert.length)) done()
          else repeat()
        },
      })
    }

    function repeat(): void {
      scheduler.plan({ of: process, what: 'inserts again', after: pauseTicks, run: attempt })
    }
  }

  function isEnough(answer: InsertAnswer, rows: number): boolean {
    if (answer.status !== 200) return false
    return answer.writtenRows === rows || !design.checkWrittenRows
  }

  function withIdentity(row: Row): Row {
    if (design.identity === 'gateway') return row
    const id = createId(scheduler.now(), serial())
    return { ...row, id, receivedAt: timeOf(id) }
  }

  function insertToken(jobs: readonly Job[]): string | undefined {
    if (design.insertToken === 'none') return undefined
    if (design.insertToken === 'the first job') return jobs[0]?.id
    return jobs
      .map(({ id }) => id)
      .toSorted()
      .join('+')
  }

  return { write }
}
