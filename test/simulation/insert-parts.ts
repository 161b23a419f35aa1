import { monthOf, type Row } from './row.ts'
import type { Random } from './random.ts'

/** A part in ClickHouse's sense: those rows of one insert that become visible together. */
export interface InsertPart {
  partition: string
  rows: Row[]
}

/** Splits an insert as ClickHouse does: into blocks (of 2 to 5 rows here), then by partition. */
export function cutIntoParts(rows: readonly Row[], random: Random): InsertPart[] {
  const size = 2 + random.below(4)
  const parts: InsertPart[] = []
  for (let start = 0; start < rows.length; start += size) {
    const inPartition = new Map<string, Row[]>()
    for (const row of rows.slice(start, start + size)) {
      const partition = monthOf(row.time)
      inPartition.set(partition, [...(inPartition.get(partition) ?? []), row])
    }
    for (const [partition, partRows] of inPartition) parts.push({ partition, rows: partRows })
  }
  return parts
}
