import t from 'tap'
import { createLogger, createMetrics } from '@intake/runtime/process'
import { startGatewayProblems } from '../../src/report/problems.ts'

const well = {
  redisConnection: () => undefined as string | undefined,
  redisPoll: {
    silentMs: () => 1_000,
    unusableServers: (): string[] => [],
    state: () => ({ memoryUsed: 0.771, fullestServer: undefined as string | undefined }),
  },
  admission: {
    redisProblems: () => ({}),
    full: (): ('logs' | 'feedback')[] => [],
    overShare: { logs: new Set<string>(), feedback: new Set<string>() },
    clockSkew: () => undefined as string | undefined,
  },
  ledger: { full: (): string[] => [] },
  apiKeys: { isLoaded: () => true, withBudget: () => [] },
  limiter: { budgetsNearEnd: (): string[] => [] },
  policy: { isLoaded: () => true },
  bucket: { problem: () => undefined as string | undefined },
  isStrict: true,
  uptimeMs: () => 60_000,
}
type Parts = typeof well

function problemsIn(changes: Partial<Parts>) {
  const { admission, ...others } = { ...well, ...changes }
  const problems = startGatewayProblems({
    ...others,
    admission: { ...admission, now: Date.now, checkQueue() {}, requireRoom() {} },
    log: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
  })
  const found = problems.present().map(({ code, state, detail }) => `${code} ${state}: ${detail}`)
  problems.close()
  return found
}

const admission = (change: Partial<Parts['admission']>): Partial<Parts> => ({
  admission: { ...well.admission, ...change },
})
const atRisk = admission({ redisProblems: () => ({ redis_could_lose_records: 'everysec' }) })

const cases: [what: string, Partial<Parts>, string[]][] = [
  ['all is well', {}, []],
  [
    'the process has just started',
    { redisConnection: () => 'refused', uptimeMs: () => 1_000 },
    ['process_ends down: it has just started: refused'],
  ],
  ['no connection', { redisConnection: () => 'refused' }, ['redis_connection down: refused']],
  [
    'Redis is silent',
    {
      redisPoll: {
        ...well.redisPoll,
        silentMs: () => 6_000,
        unusableServers: () => ['b:6379: it is full'],
      },
    },
    ['redis_connection down: no response for 6 s; b:6379: it is full'],
  ],
  [
    'servers of other shards cannot be used',
    {
      redisPoll: {
        ...well.redisPoll,
        unusableServers: () => ['b:6379: it is full', 'c:6379: it is away'],
      },
    },
    ['redis_connection degraded: b:6379: it is full; c:6379: it is away'],
  ],
  [
    'no API keys yet',
    { apiKeys: { ...well.apiKeys, isLoaded: () => false } },
    ['redis_connection down: the API keys have not been read yet'],
  ],
  [
    'no policy yet',
    { policy: { isLoaded: () => false } },
    ['redis_connection down: the policy has not been read yet'],
  ],
  [
    'Redis lost its data',
    admission({ redisProblems: () => ({ redis_lost_its_data: 'new' }) }),
    ['redis_lost_its_data down: new'],
  ],
  ['Redis could lose records', atRisk, ['redis_could_lose_records down: everysec']],
  [
    'Redis may lose records',
    { ...atRisk, isStrict: false },
    ['redis_could_lose_records degraded: everysec'],
  ],
  [
    'no room for records',
    admission({ full: () => ['logs', 'feedback'] }),
    ['queue_full degraded: no capacity for logs and feedback: Redis uses 77 % of its memory'],
  ],
  [
    'no room for the logs of one API key',
    admission({ overShare: { logs: new Set(['key_1']), feedback: new Set() } }),
    ['queue_full degraded: no capacity for API keys that are over their share: key_1'],
  ],
  [
    'no room in one server of a cluster',
    {
      ...admission({ full: () => ['logs'] }),
      redisPoll: {
        ...well.redisPoll,
        state: () => ({ memoryUsed: 0.8, fullestServer: 'b:6379' }),
      },
    },
    ['queue_full degraded: no capacity for logs: b:6379 uses 80 % of its memory'],
  ],
  ['no room for keys', { ledger: { full: () => ['logs'] } }, ['keys_full degraded: logs']],
  [
    'a budget that is nearly used up',
    { limiter: { budgetsNearEnd: () => ['key_1 has used 85 %'] } },
    ['key_budget degraded: key_1 has used 85 %'],
  ],
  ['a wrong clock', admission({ clockSkew: () => 'ahead' }), ['clock_skew down: ahead']],
  ['no bucket', { bucket: { problem: () => 'none' } }, ['object_store degraded: none']],
]

for (const [what, changes, expected] of cases) {
  t.test(what, async (t) => t.same(problemsIn(changes), expected))
}
