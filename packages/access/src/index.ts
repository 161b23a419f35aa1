export * from './alerts.ts'
export { type ApiKeyDirectory, watchApiKeys } from './api-keys/directory.ts'
export { allowsBundle } from './api-keys/bundles.ts'
export {
  budgetNames,
  hasBudget,
  keyLimitNames,
  keyLimits,
  type KeyLimitName,
  type KeyLimits,
} from './api-keys/key-limits.ts'
export {
  type ApiKeyStore,
  type KeyRules,
  type KeyState,
  createApiKeyStore,
} from './api-keys/store.ts'
export type { ApiKey } from './api-keys/stored-key.ts'
export * from './api-keys/used-today.ts'
export {
  createWaitingEntries,
  journalActions,
  type JournalAction,
  type JournalEntry,
} from './journal.ts'
export { createPolicyStore, suppressedMax } from './policy/store.ts'
export { type Policy, watchPolicy } from './policy/watch.ts'
export * from './rules/compile.ts'
export {
  concerns,
  describeRule,
  findRuleProblem,
  ruleActions,
  rulesMax,
  type Rule,
  type RuleAction,
  type RuleChoice,
} from './rules/rule.ts'
export { conditionNames, conditions, type RuleMatch } from './rules/conditions.ts'
