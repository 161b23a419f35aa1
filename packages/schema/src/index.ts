export {
  alterStored,
  onEveryServer,
  storedTable,
  syncReplicas,
  systemTable,
} from './cluster/names.ts'
export { functionStatements } from './definitions/functions.ts'
export * from './inspect/inspect.ts'
export { findMissingTables } from './inspect/schema.ts'
export { findZoneViolations } from './inspect/settings.ts'
export { readInstallation, writeInstallation } from './installation.ts'
export { migrate, repairViews } from './migrate.ts'
export { type Migration } from './migrations/migration.ts'
