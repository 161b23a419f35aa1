import { perQueue, type QueueName } from '@intake/queue'

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

export type RefusalRuns = Record<QueueName, RefusalRun>

const longRun = 16

export function createRefusalRun(): RefusalRun {
  let count = 0
  return {
    add: () => void count++,
    end: () => void (count = 0),
    isLong: () => count >= longRun,
  }
}

export const createRefusalRuns = (): RefusalRuns => perQueue(createRefusalRun)
