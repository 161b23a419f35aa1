import type { ActiveRule } from '@intake/access'
import { kinds, type RecordKind } from '@intake/contract'
import type { RedisState } from '@intake/redis'
import { systemClock } from '@intake/runtime'
import {
  addCounter,
  addGauge,
  byKind,
  type GaugeValues,
  type Registry,
} from '@intake/runtime/process'
import { memoryThresholds } from '../admission/admission.ts'
import type { ByteBudget } from '../body/byte-budget.ts'
import type { HttpEdge } from '@intake/http-edge'
import { reservationBytes, type ReservationLedger } from '@intake/identity'

/**
 * Registers metrics of the gateway's own state. Each scrape reads their current values.
 *
 * @param sources.activeRules the rules that the gateway follows now; the series of a rule ends when
 * the rule is removed
 */
export function registerEdgeMetrics(
  registry: Registry,
  sources: {
    connections: Pick<HttpEdge['connections'], 'counts'>
    budgets: Record<RecordKind, Pick<ByteBudget, 'bytesMax' | 'bytesUsed'>>
    activeRules: () => readonly ActiveRule[]
  },
): void {
  const { connections, budgets, activeRules } = sources
  addGauge(registry, {
    name: 'intake_connections_open',
    help: 'Open connections of clients.',
    read: () => [[{}, connections.counts().open]],
  })
  addGauge(registry, {
    name: 'intake_requests_in_flight',
    help: 'Requests whose response is not complete.',
    read: () => [[{}, connections.counts().inFlight]],
  })
  addGauge(registry, {
    name: 'intake_body_bytes_in_flight',
    help: 'Bytes of requests held in memory.',
    labels: ['kind'],
    read: byKind(kinds, (kind) => budgets[kind].bytesUsed()),
  })
  addGauge(registry, {
    name: 'intake_body_bytes_in_flight_max',
    help: 'Bytes at which requests are refused with `busy`.',
    labels: ['kind'],
    read: byKind(kinds, (kind) => budgets[kind].bytesMax),
  })
  addCounter(registry, {
    name: 'intake_rule_matches_total',
    help: 'Acknowledged records on which a rule of the operator has acted: dropped, in a sample (kept or not), or with a field removed or hashed.',
    labels: ['rule', 'action'],
    read: () =>
      activeRules().map(({ rule: { id: rule, action }, matches }) => [{ rule, action }, matches]),
  })
}

/** Until Redis has responded, the metrics of its memory and of the clock are absent. */
export function registerRedisMetrics(
  registry: Registry,
  sources: {
    state: () => RedisState | undefined
    ledger: Pick<ReservationLedger, 'usage'>
  },
): void {
  const { state, ledger } = sources
  const ofMemory = (read: (used: number, bytesMax: number) => GaugeValues<'kind'>) => () => {
    const { memoryUsed = 0, memoryBytesMax = Infinity } = state() ?? {}
    return Number.isFinite(memoryBytesMax) ? read(memoryUsed, memoryBytesMax) : []
  }

  addGauge(registry, {
    name: 'intake_redis_memory_used_bytes',
    help: 'Memory that Redis uses.',
    read: ofMemory((used, bytesMax) => [[{}, used * bytesMax]]),
  })
  addGauge(registry, {
    name: 'intake_redis_memory_max_bytes',
    help: 'Memory that Redis may use: `maxmemory`, or else that of its machine.',
    read: ofMemory((_used, bytesMax) => [[{}, bytesMax]]),
  })
  addGauge(registry, {
    name: 'intake_redis_memory_refuse_bytes',
    help: 'Memory of Redis at which records of a kind are refused with `queue_full`.',
    labels: ['kind'],
    read: ofMemory((_used, bytesMax) =>
      kinds.map((kind) => [{ kind }, memoryThresholds[kind].refuse * bytesMax]),
    ),
  })
  addGauge(registry, {
    name: 'intake_redis_memory_use_bytes',
    help: 'Memory of Redis by its use, estimated: reservations here, the queue on the worker.',
    labels: ['use'],
    read: () => [
      [
        { use: 'reservations' },
        kinds.reduce((sum, kind) => sum + ledger.usage(kind).held, 0) * reservationBytes,
      ],
    ],
  })
  addGauge(registry, {
    name: 'intake_reservations_held',
    help: 'Idempotency keys that are reserved.',
    labels: ['kind'],
    read: byKind(kinds, (kind) => ledger.usage(kind).held),
  })
  addGauge(registry, {
    name: 'intake_reservations_max',
    help: 'Maximum number of reserved idempotency keys; beyond it new keys are refused with `keys_full`.',
    labels: ['kind'],
    read: byKind(kinds, (kind) => ledger.usage(kind).max),
  })
  addGauge(registry, {
    name: 'intake_clock_skew_seconds',
    help: 'How far the clock of this gateway is ahead of Redis; negative if it is behind.',
    read: () => {
      const reading = state()?.clock
      if (reading === undefined) return []
      return [[{}, (Date.now() - (systemClock.now() + reading.offsetMs)) / 1_000]]
    },
  })
}
