import type { Test } from 'tap'
import { createClickHouse, type ClickHouse, type ClickHouseOptions } from '@intake/clickhouse'

/** Connects to ClickHouse until the test ends. */
export function openClickHouse(t: Pick<Test, 'teardown'>, options: ClickHouseOptions): ClickHouse {
  const clickhouse = createClickHouse(options)
  t.teardown(() => clickhouse.close())
  return clickhouse
}
