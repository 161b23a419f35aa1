export { type ApiKeyDirectory, watchApiKeys } from './api-keys/directory.ts'
export {
  type ApiKey,
  type ApiKeyStore,
  type StoredKeys,
  createApiKeyStore,
} from './api-keys/store.ts'
export { type PolicyStore, createPolicyStore, suppressedMax } from './policy/store.ts'
export { type Policy, watchPolicy } from './policy/watch.ts'
export {
  applyEdits,
  compileRules,
  type ActiveRule,
  type CompiledRules,
  type Ruling,
  type SenderRules,
} from './rules/compile.ts'
export {
  concerns,
  describeRule,
  findRuleProblem,
  ruleActions,
  rulesMax,
  type Rule,
  type RuleAction,
  type RuleChoice,
  type RuleMatch,
} from './rules/rule.ts'
