export { createApiKeyStore, type ApiKey, type ApiKeyStore, type StoredKeys } from './store.ts'
export { watchApiKeys, type ApiKeyDirectory } from './directory.ts'
