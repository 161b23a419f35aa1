import { kinds, type RecordKind } from '@intake/contract'
import { cutIntoParts, type InsertPart } from './insert-parts.ts'
import type { Row } from './row.ts'
import { createTable, type Table } from './table.ts'
import { createWatermark, type Watermark } from './watermark.ts'
import { createProcess, type Part, type World } from './world.ts'

export interface Insert {
  table: RecordKind
  rows: readonly Row[]
}

export type InsertAnswer = { status: 200; writtenRows: number } | { status: 500 }

export interface ClickHouse extends Part {
  insert(insert: Insert, answer: (answer: InsertAnswer) => void): void
  /** Whether some parts of an insert are in place, but not all. */
  isHalfDone(): boolean
  /** Makes the running inserts fail at the point that they have reached. */
  failInserts(): void
  tables: Record<RecordKind, Table>
  watermark: Watermark
}

interface Running {
  name: string
  parts: InsertPart[]
  committed: number
  isToFail: boolean
}

/**
 * Simulates ClickHouse. An insert is atomic only within one partition and one block. It becomes
 * visible part by part. A crash between two parts keeps the parts that are in place. An insert
 * continues if its client disconnects.
 */
export function createClickHouse(world: World): ClickHouse {
  const { random, scheduler, coverage, serial } = world
  const process = createProcess('clickhouse')
  const tables = { logs: createTable(), feedback: createTable() }
  const running = new Set<Running>()

  function commit(table: Table, part: InsertPart): void {
    for (const row of part.rows) if (table.has(row)) coverage['duplicate raw rows']++
    table.commit(part.partition, part.rows)
  }

  function isPartial({ committed, parts }: Running): boolean {
    return committed > 0 && committed < parts.length
  }

  function planMerge(): void {
    const run = () => {
      const table = tables[random.pick(kinds)]
      const partitions = table.partitions()
      if (partitions.length > 0) table.merge(random.pick(partitions))
      planMerge()
    }
    scheduler.plan({ of: process, what: 'merge', after: 200, kind: 'background', run })
  }

  return {
    process,
    tables,
    watermark: createWatermark({ tables, coverage }),
    start: planMerge,
    crash() {
      for (const insert of running) if (isPartial(insert)) coverage['partial inserts']++
      running.clear()
    },
    isHalfDone: () => [...running].some(isPartial),
    failInserts() {
      for (const insert of running) insert.isToFail = true
    },

    insert({ table, rows }, answer) {
      const parts = cutIntoParts(rows, random)
      const insert = { name: `insert ${serial()}`, parts, committed: 0, isToFail: false }
      running.add(insert)
      next()

      function next(): void {
        const part = parts[insert.committed]
        if (part === undefined) return finish({ status: 200, writtenRows: rows.length })
        const what = `${insert.name}, part ${insert.committed + 1} of ${parts.length}`
        plan(`${what}: ${part.rows.map(({ text }) => text).join(' ')}`, () => {
          if (insert.isToFail) return fail()
          commit(tables[table], part)
          insert.committed++
          next()
        })
      }

      function fail(): void {
        const writtenRows = parts
          .slice(0, insert.committed)
          .reduce((sum, part) => sum + part.rows.length, 0)
        if (isPartial(insert)) coverage['partial inserts']++
        finish(random.chance(0.5) ? { status: 500 } : { status: 200, writtenRows })
      }

      function finish(result: InsertAnswer): void {
        running.delete(insert)
        answer(result)
      }

      function plan(what: string, run: () => void): void {
        scheduler.plan({ of: process, what, after: random.below(6), run })
      }
    },
  }
}
