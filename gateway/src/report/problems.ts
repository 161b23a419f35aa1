import type { ApiKeyDirectory } from '@intake/access'
import type { PolledCheck, Problems } from '@intake/health'
import { joinDetails, separateStart, startProblems } from '@intake/health'
import type { RedisPoll, RedisState } from '@intake/redis'
import type { Logger, Registry } from '@intake/runtime/process'
import { type ReservationLedger } from '@intake/identity'
import type { Admission } from '../admission/admission.ts'
import type { KeyLimiter } from '../admission/key-limits.ts'

const notedCodes = ['overloaded', 'object_store', 'attachments_left', 'request_refused'] as const
export type GatewayProblems = Problems<(typeof notedCodes)[number]>

/** Redis counts as down if no poll of its state has succeeded for this long. */
const redisSilentMs = 5_000

/** @param options.isStrict whether the gateway refuses records while Redis could lose them */
export function startGatewayProblems(options: {
  redisConnection: () => string | undefined
  redisPoll: Pick<RedisPoll, 'silentMs' | 'unusableServers'> & {
    state(): Pick<RedisState, 'memoryUsed' | 'fullestServer'> | undefined
  }
  admission: Admission
  ledger: Pick<ReservationLedger, 'full'>
  apiKeys: Pick<ApiKeyDirectory, 'isLoaded' | 'withBudget'>
  limiter: Pick<KeyLimiter, 'budgetsNearEnd'>
  policy: { isLoaded(): boolean }
  bucket: Pick<PolledCheck, 'problem'>
  isStrict: boolean
  /** How long the process has been running; default: that of this process. */
  uptimeMs?: () => number
  log: Logger
  metrics: Registry
}): GatewayProblems {
  const { redisPoll, admission, ledger, apiKeys, policy, bucket, isStrict, log, metrics } = options
  const { limiter } = options

  /** Why no records are accepted, in words for an operator; undefined if they are accepted. */
  function findRedisProblem(): string | undefined {
    const reason = options.redisConnection() ?? admission.redisProblems().redis_connection
    if (reason !== undefined) return reason
    const silentMs = redisPoll.silentMs()
    if (silentMs > redisSilentMs) return `no response for ${Math.round(silentMs / 1_000)} s`
    if (!apiKeys.isLoaded()) return 'the API keys have not been read yet'
    return policy.isLoaded() ? undefined : 'the policy has not been read yet'
  }

  const { starting, lasting: redisConnection } = separateStart(findRedisProblem, options.uptimeMs)

  return startProblems({
    checks: {
      process_ends: starting,
      // Unusable servers other than the main one are reported, too. While some servers are
      // unusable, the gateway uses the queue shards and reservations of the usable servers.
      redis_connection() {
        if (starting() !== undefined) return undefined
        return joinDetails([redisConnection(), ...redisPoll.unusableServers()])
      },
      redis_lost_its_data: () => admission.redisProblems().redis_lost_its_data,
      redis_could_lose_records: () => admission.redisProblems().redis_could_lose_records,
      queue_full() {
        const full = admission.full()
        if (full.length === 0) return describeOver(admission.overShare.logs)
        const { fullestServer = 'Redis', memoryUsed = 0 } = redisPoll.state() ?? {}
        const percent = Math.round(memoryUsed * 100)
        return `no capacity for ${full.join(' and ')}: ${fullestServer} uses ${percent} % of its memory`
      },
      keys_full: () => joinDetails(ledger.full()),
      key_budget: () => joinDetails(limiter.budgetsNearEnd(apiKeys.withBudget())),
      clock_skew: () => admission.clockSkew(),
      object_store: bucket.problem,
    },
    noted: notedCodes,
    states: {
      redis_connection: () => (redisConnection() === undefined ? 'degraded' : 'down'),
      redis_could_lose_records: isStrict ? 'down' : 'degraded',
    },
    log,
    metrics,
  })
}

/** Whoever is over its share for feedback is over it for logs, too. */
const describeOver = (ids: ReadonlySet<string>) =>
  ids.size === 0
    ? undefined
    : `no capacity for API keys that are over their share: ${[...ids].slice(0, 5).join(', ')}`
