export { describeStoreError } from './describe-error.ts'
export { measureObjectStore } from './measured.ts'
export { createObjectStore, type ObjectStore, type StoredObject } from './object-store.ts'
export type { ObjectStoreSettings } from './settings.ts'
