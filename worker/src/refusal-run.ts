/**
 * Counts rows that ClickHouse refused with no row stored in between. A bad row stands among good ones;
 * a long run means that the table refuses every row, and then none must become a dead letter.
 */
export interface RefusalRun {
  add(): void
  /** Rows were stored: the table takes rows. */
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
