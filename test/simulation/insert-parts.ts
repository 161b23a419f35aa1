import { monthOf, type Row } from './row.ts'
import type { World } from './world.ts'

/** A part in ClickHouse's sense: those rows of one insert that become visible together. */
export interface InsertPart {
  partition: string
  rows: Row[]
  /** The part's name in the dedup log; undefined without deduplication. */
  dedupName: string | undefined
}

const blockRows = 4
/** How many ticks a partition covers, in the design that partitions by the time of the insert. */
const insertPartitionTicks = 25

/** Splits an insert into blocks, and each block by partition. */
export function cutIntoParts(options: {
  world: World
  rows: readonly Row[]
  token: string | undefined
}): InsertPart[] {
  const { world, rows, token } = options
  const { design, random, scheduler } = world
  const size = design.blocks === 'vary' ? 2 + random.below(4) : blockRows
  const partitionOf = {
    time: ({ time }: Row) => monthOf(time),
    received_at: ({ received_at: receivedAt }: Row) => monthOf(receivedAt),
    'time of the insert': () => `${Math.floor(scheduler.now() / insertPartitionTicks)}`,
  }[design.partitionBy]
  const parts: InsertPart[] = []
  for (let start = 0; start < rows.length; start += size) {
    const block = start / size
    const inPartition = new Map<string, Row[]>()
    for (const row of rows.slice(start, start + size)) {
      const partition = partitionOf(row)
      inPartition.set(partition, [...(inPartition.get(partition) ?? []), row])
    }
    for (const [partition, partRows] of inPartition) {
      const dedupName = token === undefined ? undefined : `${partition}/${token}/${block}`
      parts.push({ partition, rows: partRows, dedupName })
    }
  }
  return parts
}
