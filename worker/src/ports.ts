import type { ClickHouse } from '@intake/clickhouse'

/** What the worker needs from outside; the type documents its guarantees. */
export type RowStore = Pick<ClickHouse, 'insertGzip'>
