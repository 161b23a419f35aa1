import { kinds } from '@intake/contract'
import type { StoredStateMonitor } from '@intake/records'
import { addGauge, byKind, type Registry } from '@intake/runtime/process'

/**
 * Every worker reports the same tables: combine workers with `max`, not `sum`. There is no value
 * while the state is not known.
 */
export function registerStoredStateMetrics(
  registry: Registry,
  { state }: Pick<StoredStateMonitor, 'state'>,
): void {
  addGauge(registry, {
    name: 'intake_dead_letters_waiting',
    help: 'Dead letters that wait for an operator (shared).',
    labels: ['kind'],
    read: byKind(kinds, (kind) => state()?.deadLetters[kind]),
  })
  addGauge(registry, {
    name: 'intake_watermark_age_seconds',
    help: 'Age of the watermark: everything accepted earlier is visible (shared).',
    labels: ['kind'],
    read: byKind(kinds, (kind) => {
      const until = state()?.visibleUntil[kind]
      return until === undefined ? undefined : (Date.now() - Date.parse(until)) / 1_000
    }),
  })
}
