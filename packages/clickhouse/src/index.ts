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
export { ClickHouseError, hasUnknownCode } from './errors.ts'
export type { FailureKind } from './errors.ts'
export { readInstallation, writeInstallation } from './installation.ts'
export { functionStatements } from './definitions/functions.ts'
export { migrate, MigrationError } from './migrate.ts'
export type { Migration } from './migrations/migration.ts'
export {
  countPayloads,
  countStored,
  startDeletion,
  watchDeletion,
  type DeletionProgress,
} from './erasure/delete-payloads.ts'
export { exportRows, type ExportedRow } from './erasure/export-rows.ts'
export { listErasures, noteErasure, type Erasure, type ListedErasure } from './erasure/journal.ts'
export { subjectHash, type Subject } from './erasure/subject.ts'
export {
  erasedFeedback,
  spreadTombstones,
  writeTombstones,
  type Tombstones,
} from './erasure/tombstones.ts'
export {
  deleteDeadLetters,
  dropMonths,
  readRetention,
  retentionKinds,
  writeRetention,
  type Retention,
  type RetentionKind,
} from './retention.ts'
