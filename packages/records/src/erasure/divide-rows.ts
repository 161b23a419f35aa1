import type { ClickHouse } from '@intake/clickhouse'
import { identity } from '@intake/schema'
import type { Condition } from './subject.ts'

/** A set of so many identities takes about 110 MB of ClickHouse's memory. */
const defaultRowsMax = 500_000
const hourMs = 3_600_000
const hourOf = (time: string) => `toInt64(floor(toUnixTimestamp64Milli(${time}) / ${hourMs}))`

/**
 * Divides the rows that a condition selects into ranges of `time` with at most about `rowsMax` of
 * them, so that a statement about one range fits into memory, however many there are. Resolves to the
 * conditions of the ranges, each with all rows of an identity; to none if there are no rows.
 */
export async function divideRows(
  clickhouse: Pick<ClickHouse, 'query'>,
  table: string,
  { sql, params }: Condition,
  rowsMax = defaultRowsMax,
): Promise<string[]> {
  const ranges = await clickhouse.query<{ first: number; last: number; rows: number }>(
    `SELECT min(hour) AS first, max(hour) AS last, sum(hour_rows) AS rows
     FROM (SELECT hour, hour_rows, sum(hour_rows) OVER (ORDER BY hour) AS sum_rows
           FROM (SELECT ${hourOf('time')} AS hour, count() AS hour_rows
                 FROM intake.${table} WHERE ${sql} GROUP BY hour))
     GROUP BY intDiv(sum_rows - hour_rows, ${rowsMax}), intDiv(sum_rows, ${rowsMax})
     ORDER BY first`,
    params,
  )
  return ranges.flatMap(({ first, last, rows }) => {
    const range = `time >= ${instant(first)} AND time < ${instant(last + 1)}`
    // One hour may have any number of rows, and one id too, of many devices. Such an hour is a range.
    const parts = Math.ceil(rows / rowsMax)
    if (parts === 1) return [range]
    const part = `cityHash64(${identity}) % ${parts}`
    return Array.from({ length: parts }, (_, k) => `${range} AND ${part} = ${k}`)
  })
}

const instant = (hour: number) => `fromUnixTimestamp64Milli(${hour * hourMs}, 'UTC')`
