export { createApiKeyStore, type ApiKey, type ApiKeyStore } from './store.ts'
export { watchApiKeys, type ApiKeyDirectory } from './directory.ts'
