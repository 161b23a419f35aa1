import type { QueryParams } from '@intake/clickhouse'

const types = {
  table: 'String',
  bundle_identifier: 'String',
  time: "DateTime64(3, 'UTC')",
  received_at: "DateTime64(3, 'UTC')",
  failed_at: "DateTime64(3, 'UTC')",
  id: 'UUID',
  device_uuid: 'UUID',
  ver: 'UInt64',
}
export type OrderColumn = keyof typeof types

/** Selects the rows after one, in the order of columns that identify a row: for the next page. */
export function rowsAfter(
  order: readonly OrderColumn[],
  row: Partial<Record<OrderColumn, string | number>> | undefined,
): { sql: string; params: QueryParams } {
  if (row === undefined) return { sql: '1', params: {} }
  const names = order.map((name) => `{after_${name}:${types[name]}}`)
  return {
    sql: `(${order.join(', ')}) > (${names.join(', ')})`,
    params: Object.fromEntries(order.map((name) => [`after_${name}`, row[name] ?? ''])),
  }
}
