export { type CountName, countNames, refreshCounts } from './counts/refresh-counts.ts'
export * from './dead-letters.ts'
export {
  countPayloads,
  countStored,
  startDeletion,
  untilDeleted,
} from './erasure/delete-payloads.ts'
export { type ErasureReport, erase } from './erasure/erase.ts'
export { exportSubject } from './erasure/export-subject.ts'
export { listErasures, noteErasure } from './erasure/erasure-list.ts'
export { type Subject, subjectHash } from './erasure/subject.ts'
export { writeTombstones } from './erasure/tombstones.ts'
export { waitingFrames } from './erasure/waiting-rows.ts'
export { ageDays, type FollowFilter, type Followed, followRecords } from './follow-records.ts'
export * from './retention/expired.ts'
export { keepCounts } from './counts/replace-counts.ts'
export * from './retention/periods.ts'
export { type RecordServices, type Services } from './services.ts'
export * from './stored-state.ts'
export { type Reservation, type SentKey, findReservations, searchOf } from './trace/client-key.ts'
export { findInTables } from './trace/find-in-tables.ts'
export type { RecordSearch } from './trace/matches.ts'
export { type Trace, type TracedRecord, traceRecords, traceStates } from './trace/trace.ts'
export { exportRecords } from './export/export-records.ts'
export { readDropped } from './export/read-dropped.ts'
export { type ExportScope, type Manifest } from './export/manifest.ts'
export { createBucketTarget, createFolderTarget, type ExportTarget } from './export/target.ts'
export { verifyExport } from './export/verify-export.ts'
