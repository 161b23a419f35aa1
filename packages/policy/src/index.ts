export { createPolicyStore, suppressedMax, type PolicyStore, type Suppression } from './store.ts'
export { watchPolicy, type Policy } from './watch.ts'
