export { createClickHouse } from './client.ts'
export type { ClickHouse, ClickHouseOptions, InsertGzip, QueryParams } from './client.ts'
export {
  addDeadLetter,
  dropDeadLetters,
  listDeadLetters,
  readDeadLetterPages,
  readDeadLetters,
  replayDeadLetters,
  type DeadLetter,
  type DeadLetterOutcome,
} from './dead-letters.ts'
export { ClickHouseError, describeError, hasUnknownCode, MigrationError } from './errors.ts'
export type { FailureKind } from './errors.ts'
export { readInstallation, writeInstallation } from './installation.ts'
export {
  findDeadLetters,
  findRecords,
  type FoundDeadLetter,
  type FoundRecord,
  type RecordSearch,
} from './find-records.ts'
export { functionStatements } from './definitions/functions.ts'
export {
  inspectClickHouse,
  readClickHouseClock,
  type ClickHouseFacts,
  type Disk,
} from './inspect/inspect.ts'
export { findMissingTables } from './inspect/schema.ts'
export { findZoneViolations } from './inspect/settings.ts'
export { migrate, repairViews } from './migrate.ts'
export type { Migration } from './migrations/migration.ts'
export {
  countPayloads,
  countStored,
  startDeletion,
  watchDeletion,
} from './erasure/delete-payloads.ts'
export { exportRows, type ExportedRow } from './erasure/export-rows.ts'
export { listErasures, noteErasure } from './erasure/journal.ts'
export { subjectHash, type Subject } from './erasure/subject.ts'
export { isoTime, sqlTime } from './sql-time.ts'
export { erasedFeedback, spreadTombstones, writeTombstones } from './erasure/tombstones.ts'
export {
  countExpiredDeadLetters,
  deleteExpiredDeadLetters,
  dropMonths,
  listExpiredMonths,
  readRetention,
  retentionKinds,
  writeRetention,
  type Retention,
  type RetentionKind,
} from './retention.ts'
