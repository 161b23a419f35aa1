export {
  alertsMax,
  describeAlert,
  describeFound,
  type Alert,
  type AlertChoice,
} from './alerts/alert.ts'
export { createAlertStore, type AlertStore } from './alerts/store.ts'
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
export { journalActions, type JournalAction } from './journal/actions.ts'
export { createWaitingEntries, type JournalEntry } from './journal/journal.ts'
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
