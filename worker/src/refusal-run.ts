/**
 * Counts rows that ClickHouse rejected with no row stored in between. A bad row is normally
 * among good ones; a long run means that the table rejects every row, and then none may be
 * dead-lettered.
 */
export interface RefusalRun {
  add(): void
  /** Rows were stored, so the table accepts rows. */
  end(): void
  isLong(): boolean
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
