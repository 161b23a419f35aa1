export * from './client.ts'
export {
  ClickHouseError,
  type FailureKind,
  MigrationError,
  describeError,
  explainDefinition,
  explainFailure,
  hasUnknownCode,
} from './errors.ts'
export { insertLines } from './insert-lines.ts'
export { ownerOf, selectInTurns } from './select-in-turns.ts'
export { isoTime, nextSetAt, sqlTime } from './sql-time.ts'
export { type RawTable, type RecordTable, rawTables } from './tables.ts'
export { withClickHouse } from './with-clickhouse.ts'
