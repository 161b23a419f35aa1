import { createClickHouse, type ClickHouse, type ClickHouseOptions } from './client.ts'

export async function withClickHouse<T>(
  options: ClickHouseOptions,
  work: (clickhouse: ClickHouse) => Promise<T>,
): Promise<T> {
  const clickhouse = createClickHouse(options)
  try {
    return await work(clickhouse)
  } finally {
    await clickhouse.close()
  }
}
