import { queueKinds, type QueueName } from '@intake/queue'

/**
 * Rejected rows since ClickHouse last stored one. A bad row has good ones before and after it; a
 * long run means that the table rejects every row, and then none may be dead-lettered.
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
