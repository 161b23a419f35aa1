import type { ClickHouse } from '@intake/clickhouse'

/** The external dependency of the worker; the type documents its guarantees. */
export type RowStore = Pick<ClickHouse, 'insertGzip'>
