import type { ClickHouse, QueryParams } from '@intake/clickhouse'

/** @param from a SELECT from its FROM on, without GROUP BY */
export async function countRows(
  clickhouse: Pick<ClickHouse, 'query'>,
  from: string,
  params?: QueryParams,
): Promise<number> {
  const [row] = await clickhouse.query<{ rows: number }>(`SELECT count() AS rows ${from}`, params)
  return row?.rows ?? 0
}
