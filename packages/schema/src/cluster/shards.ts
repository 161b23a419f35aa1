import { MigrationError, sqlTime } from '@intake/clickhouse'

/**
 * The rule that assigns rows to shards by their `time`. Rows before `changes[0]` are spread over
 * `counts[0]` shards, later rows (until `changes[1]`) over `counts[1]`, and so on. A repeated
 * attempt sends the same `time`, which is part of the identity. So its row is stored on the shard
 * of the first attempt, even when shards were added in between.
 */
export interface Shards {
  /** Before the first change and after each, so one more than `changes`. They never decrease. */
  counts: readonly number[]
  /** `YYYY-MM-DD hh:mm:ss.mmm` in UTC, ascending. */
  changes: readonly string[]
}

/** Clients choose times 10 minutes ahead, and all servers must know the change before. */
const noticeMs = 15 * 60_000

/** The value of the key is the number of the shard, also if the cluster has more than the table. */
export function shardingKey({ counts, changes }: Shards, columns: string, time: string): string {
  const shard = (count: number | undefined) => `sipHash64(${columns}) % ${count}`
  if (changes.length === 0) return shard(counts[0])
  const cases = changes.map(
    (change, index) => `${time} < toDateTime64('${change}', 3, 'UTC'), ${shard(counts[index])}`,
  )
  return `multiIf(${cases.join(', ')}, ${shard(counts.at(-1))})`
}

/** Reads the shards from a table's engine as ClickHouse prints it. */
export function parseShards(engine: string): Shards {
  const all = (pattern: RegExp) => Array.from(engine.matchAll(pattern), ([, value]) => value!)
  return {
    counts: all(/ % (\d+)/g).map(Number),
    changes: all(/toDateTime64\('([^']+)', 3/g),
  }
}

/** @throws {MigrationError} when `from` is too soon: rows with a later `time` may be stored */
export function addShards(shards: Shards, count: number, from: Date): Shards {
  const earliest = Date.now() + noticeMs
  const last = shards.changes.at(-1)
  if (from.getTime() < earliest || (last !== undefined && sqlTime(from) <= last)) {
    const after = last === undefined ? '' : ` and after ${last}`
    throw new MigrationError(
      `New shards need a time at least 15 minutes from now${after}, for example ` +
        `${new Date(earliest + noticeMs).toISOString()}.`,
    )
  }
  return { counts: [...shards.counts, count], changes: [...shards.changes, sqlTime(from)] }
}
