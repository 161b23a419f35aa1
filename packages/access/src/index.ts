export { type ApiKeyDirectory, watchApiKeys } from './api-keys/directory.ts'
export {
  type ApiKey,
  type ApiKeyStore,
  type StoredKeys,
  createApiKeyStore,
} from './api-keys/store.ts'
export { type PolicyStore, createPolicyStore, suppressedMax } from './policy/store.ts'
export { type Policy, watchPolicy } from './policy/watch.ts'
