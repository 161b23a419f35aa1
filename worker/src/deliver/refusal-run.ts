import { queueKinds, type QueueName } from '@intake/queue'

/**
 * Counts the rows that ClickHouse has rejected since it last stored one. A single bad row has good
 * rows before and after it. A long run of rejections means that the table rejects every row. During
 * such a run, no row may be dead-lettered.
 */
export interface RefusalRun {
  add(): void
  /** Called when rows were stored, which shows that the table accepts rows. */
  end(): void
  isLong(): boolean
}

export interface RefusalRuns {
  of(kind: QueueName): RefusalRun
  /** The kinds whose table rejects every row, judging by a long run of rejections. */
  long(): QueueName[]
}

const longRun = 16

export function createRefusalRun(): RefusalRun {
  let count = 0
  return {
    add: () => void count++,
    end: () => void (count = 0),
    isLong: () => count >= longRun,
  }
}

export function createRefusalRuns(): RefusalRuns {
  const runs = new Map(queueKinds.map((kind) => [kind, createRefusalRun()]))
  return {
    of: (kind) => runs.get(kind)!,
    long: () => [...runs].flatMap(([kind, run]) => (run.isLong() ? [kind] : [])),
  }
}
