import type { Row } from './row.ts'

/** The table of records: partitions of raw rows, and the view that analysts read. */
export interface Table {
  /** Makes the rows visible, all at once. */
  commit(partition: string, rows: readonly Row[]): void
  /**
   * Merges a partition, as ClickHouse does in the background. Collapses rows as the engine does.
   */
  merge(partition: string): void
  partitions(): string[]
  has(row: Pick<Row, 'id' | 'device_uuid'>): boolean
  /** The rows that the view shows. */
  visible(): Row[]
}

/**
 * Creates a table. `ReplacingMergeTree` collapses rows with an equal sorting key, but only within a
 * partition. The view also collapses them only within a partition
 * (`do_not_merge_across_partitions_select_final`).
 */
export function createTable(): Table {
  const partitions = new Map<string, Row[]>()
  const identities = new Set<string>()
  const identityOf = ({ device_uuid: device, id }: Pick<Row, 'id' | 'device_uuid'>) =>
    `${device} ${id}`
  const sortingKey = ({ time, device_uuid: device, id }: Row) => `${time} ${device} ${id}`

  function collapse(rows: readonly Row[]): Row[] {
    return [...new Map(rows.map((row) => [sortingKey(row), row])).values()]
  }

  return {
    commit(partition, rows) {
      partitions.set(partition, [...(partitions.get(partition) ?? []), ...rows])
      for (const row of rows) identities.add(identityOf(row))
    },
    merge: (partition) => void partitions.set(partition, collapse(partitions.get(partition) ?? [])),
    partitions: () => [...partitions.keys()],
    has: (row) => identities.has(identityOf(row)),
    visible: () => [...partitions.values()].flatMap(collapse),
  }
}
