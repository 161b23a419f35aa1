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
type Changes = { [Group in keyof Parts]?: Partial<Parts[Group]> }

/** The problems of a gateway in which all is well except for these members of these groups. */
function problemsIn(changes: Changes) {
  const parts = { ...well } as Record<string, unknown>
  for (const [group, change] of Object.entries(changes)) {
    const isGroup = typeof change === 'object'
    parts[group] = isGroup ? { ...(parts[group] as object), ...change } : change
  }
  const { admission, ...others } = parts as Parts
  const problems = startGatewayProblems({
    ...others,
    admission: { ...admission, now: Date.now, checkQueue() {}, requireCapacity() {} },
    log: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
  })
  const found = problems.present().map(({ code, state, detail }) => `${code} ${state}: ${detail}`)
  problems.close()
  return found
}

const redisConnection = () => 'refused'
const silentMs = () => 6_000
const oneIsFull = () => ['b:6379: it is full']
const overShare = { logs: new Set(['key_1']), feedback: new Set<string>() }
const admission = { redisProblems: () => ({ redis_could_lose_records: 'everysec' }) }

const cases: [what: string, Changes, ...problems: string[]][] = [
  ['all is well', {}],
  [
    'the process has just started',
    { redisConnection, uptimeMs: () => 1_000 },
    'process_ends down: it has just started: refused',
  ],
  ['no connection', { redisConnection }, 'redis_connection down: refused'],
  [
    'Redis is silent',
    { redisPoll: { silentMs, unusableServers: oneIsFull } },
    'redis_connection down: no response for 6 s; b:6379: it is full',
  ],
  [
    'servers of other shards cannot be used',
    { redisPoll: { unusableServers: () => ['b:6379: it is full', 'c:6379: it is away'] } },
    'redis_connection degraded: b:6379: it is full; c:6379: it is away',
  ],
  [
    'no API keys yet',
    { apiKeys: { isLoaded: () => false } },
    'redis_connection down: the API keys have not been read yet',
  ],
  [
    'no policy yet',
    { policy: { isLoaded: () => false } },
    'redis_connection down: the policy has not been read yet',
  ],
  [
    'Redis lost its data',
    { admission: { redisProblems: () => ({ redis_lost_its_data: 'new' }) } },
    'redis_lost_its_data down: new',
  ],
  ['Redis could lose records', { admission }, 'redis_could_lose_records down: everysec'],
  [
    'Redis may lose records',
    { admission, isStrict: false },
    'redis_could_lose_records degraded: everysec',
  ],
  [
    'no room for records',
    { admission: { full: () => ['logs', 'feedback'] } },
    'queue_full degraded: no capacity for logs and feedback: Redis uses 77 % of its memory',
  ],
  [
    'no room for the logs of one API key',
    { admission: { overShare } },
    'queue_full degraded: no capacity for API keys that are over their share: key_1',
  ],
  [
    'no room in one server of a cluster',
    {
      admission: { full: () => ['logs'] },
      redisPoll: { state: () => ({ memoryUsed: 0.8, fullestServer: 'b:6379' }) },
    },
    'queue_full degraded: no capacity for logs: b:6379 uses 80 % of its memory',
  ],
  ['no room for keys', { ledger: { full: () => ['logs'] } }, 'keys_full degraded: logs'],
  [
    'a budget that is nearly used up',
    { limiter: { budgetsNearEnd: () => ['key_1 has used 85 %'] } },
    'key_budget degraded: key_1 has used 85 %',
  ],
  ['a wrong clock', { admission: { clockSkew: () => 'ahead' } }, 'clock_skew down: ahead'],
  ['no bucket', { bucket: { problem: () => 'none' } }, 'object_store degraded: none'],
]

for (const [what, changes, ...expected] of cases) {
  t.test(what, async (t) => t.same(problemsIn(changes), expected))
}
