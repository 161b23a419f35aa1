export { createObjectStore, type ObjectStore, type StoredObject } from './object-store.ts'
