import type { ActiveRule } from '@intake/access'
import { addCounter, type Registry } from '@intake/runtime/process'

/**
 * Registers the counter of records on which the operator's rules have acted.
 *
 * @param sources.activeRules the rules that the gateway follows now; the series of a rule ends when
 * the rule is removed
 */
export function registerRuleMetrics(
  registry: Registry,
  { activeRules }: { activeRules: () => readonly ActiveRule[] },
): void {
  addCounter(registry, {
    name: 'intake_rule_matches_total',
    help: 'Acknowledged records on which a rule of the operator has acted: dropped, in a sample (kept or not), or with a field removed or hashed.',
    labels: ['rule', 'action'],
    read: () =>
      activeRules().map(({ rule: { id: rule, action }, matches }) => [{ rule, action }, matches]),
  })
}
