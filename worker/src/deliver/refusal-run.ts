import { perQueue, type QueueName } from '@intake/queue'

const longRun = 16

export type RefusalRun = ReturnType<typeof createRefusalRun>
export type RefusalRuns = Record<QueueName, RefusalRun>

/**
 * Counts rejected rows since ClickHouse last stored one. A bad row has good ones before and after
 * it; a long run means that the table rejects every row, and then none may be dead-lettered.
 */
export function createRefusalRun() {
  let count = 0
  return {
    add: () => void count++,
    /** Called when rows were stored, which shows that the table accepts rows. */
    end: () => void (count = 0),
    isLong: () => count >= longRun,
  }
}

export const createRefusalRuns = (): RefusalRuns => perQueue(createRefusalRun)
