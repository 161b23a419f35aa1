import { monthOf, type Row } from './row.ts'
import type { World } from './world.ts'

/** A part in ClickHouse's sense: those rows of one insert that become visible together. */
export interface InsertPart {
  partition: string
  rows: Row[]
}

/** How many ticks a partition covers, in the design that partitions by the time of the insert. */
const insertPartitionTicks = 25

/** Splits an insert as ClickHouse does: into blocks (of 2 to 5 rows here), then by partition. */
export function cutIntoParts(options: { world: World; rows: readonly Row[] }): InsertPart[] {
  const { world, rows } = options
  const { design, random, scheduler } = world
  const size = 2 + random.below(4)
  const partitionOf = {
    time: ({ time }: Row) => monthOf(time),
    received_at: ({ received_at: receivedAt }: Row) => monthOf(receivedAt),
    'time of the insert': () => `${Math.floor(scheduler.now() / insertPartitionTicks)}`,
  }[design.partitionBy]
  const parts: InsertPart[] = []
  for (let start = 0; start < rows.length; start += size) {
    const inPartition = new Map<string, Row[]>()
    for (const row of rows.slice(start, start + size)) {
      const partition = partitionOf(row)
      inPartition.set(partition, [...(inPartition.get(partition) ?? []), row])
    }
    for (const [partition, partRows] of inPartition) parts.push({ partition, rows: partRows })
  }
  return parts
}
