import { describeRule, type ActiveRule } from '@intake/access'
import { kinds } from '@intake/contract'
import type { RedisState } from '@intake/redis'
import type { HttpEdge } from '@intake/http-edge'
import { type ReservationLedger } from '@intake/identity'
import type { GatewayMetrics } from './metrics.ts'

interface Sources {
  metrics: Pick<GatewayMetrics, 'rates'>
  connections: Pick<HttpEdge['connections'], 'counts'>
  connectionsMax: number
  redisState: () => RedisState | undefined
  ledger: Pick<ReservationLedger, 'usage'>
  activeRules: () => readonly ActiveRule[]
  queueShards: () => { count: number; unused: number[] }
}

/** What the admin port says of a gateway besides its problems, read at each request. */
export const gatewayStatus = (sources: Sources) => ({
  notes: () => gatewayNotes(sources),
  facts: () => gatewayFacts(sources),
  scaling: () => gatewayScaling(sources),
})

/** Returns `/status` without the problems. Null means: not known yet. */
function gatewayFacts({ metrics, connections, connectionsMax, ...sources }: Sources) {
  const { acceptedPerSecond, refusedPerSecond } = metrics.rates()
  const { open, inFlight } = connections.counts()
  const state = sources.redisState()
  const { memoryUsed, memoryBytesMax } = state ?? {}
  const reservations = kinds.map((kind) => [kind, sources.ledger.usage(kind)])
  return {
    accepted_per_second: acceptedPerSecond,
    refused_per_second: refusedPerSecond,
    requests_in_flight: inFlight,
    connections: { open, max: connectionsMax },
    redis:
      memoryUsed === undefined || memoryBytesMax === undefined || memoryBytesMax === Infinity
        ? null
        : {
            memory_used_bytes: Math.round(memoryUsed * memoryBytesMax),
            memory_max_bytes: memoryBytesMax,
            durability: durabilityOf(state),
          },
    queue_shards: sources.queueShards(),
    reservations: Object.fromEntries(reservations),
    rules: sources.activeRules().map(({ rule, matches }) => ({
      id: rule.id,
      rule: describeRule(rule),
      matches,
    })),
  }
}

function durabilityOf(state: RedisState | undefined): 'asserted' | 'checked' | 'at risk' {
  if (state?.isDurabilityAsserted) return 'asserted'
  return state?.durabilityViolations.length === 0 ? 'checked' : 'at risk'
}

function gatewayNotes({ redisState }: Sources): Record<string, string> {
  if (!redisState()?.isDurabilityAsserted) return {}
  return {
    redis_durability:
      'asserted (REDIS_DURABILITY): Redis hides its settings, so they are not checked',
  }
}

/** Returns what an autoscaler needs. `load` is the requests in flight per allowed connection. */
function gatewayScaling({ metrics, connections, connectionsMax }: Sources) {
  const { inFlight } = connections.counts()
  const { acceptedPerSecond } = metrics.rates()
  return {
    load: inFlight / connectionsMax,
    requests_in_flight: inFlight,
    records_per_second: acceptedPerSecond.logs + acceptedPerSecond.feedback,
  }
}
