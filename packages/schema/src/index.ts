export {
  alterStored,
  onEveryServer,
  storedTable,
  syncReplicas,
  systemTable,
} from './cluster/names.ts'
export { orderedVersion } from './definitions/counts.ts'
export { crashText } from './definitions/crashes.ts'
export { identity } from './cluster/statements.ts'
export { tombstoneVer } from './definitions/deletions.ts'
export { fingerprint } from './definitions/fingerprint.ts'
export { functionStatements } from './definitions/functions.ts'
export * from './inspect/inspect.ts'
export { findZoneViolations } from './inspect/settings.ts'
export * from './installation.ts'
export { migrate, repairViews } from './migrate.ts'
export { type Migration } from './migrations/index.ts'
export {
  type Analyst,
  analystName,
  conditionOf,
  databaseOf,
  definerOf,
  removable,
  replaceable,
} from './analysts/analyst.ts'
export { defineAnalyst, defineAnalysts, dropAnalyst } from './analysts/define.ts'
export { findDifferencesOfAnalysts } from './analysts/inspect.ts'
export { rightsSql, rightsXml } from './analysts/rights.ts'
export { findAnalyst, readAnalysts, writeAnalyst } from './analysts/store.ts'
export { viewsOf } from './analysts/views.ts'
