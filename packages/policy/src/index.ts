export { createPolicyStore, suppressedMax, type PolicyStore } from './store.ts'
export { watchPolicy, type Policy } from './watch.ts'
