import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { perQueue, type QueueName, type QueueState } from '@intake/queue'
import type { StoredState } from '@intake/records'
import { ReplyError } from '@intake/redis'
import { createMetrics } from '@intake/runtime/process'
import type { Activity } from '../../src/watch/activity.ts'
import { startWorkerProblems } from '../../src/watch/problems.ts'
import { logTo } from '@intake/test-kit/log-to'

interface Situation {
  logs?: Partial<QueueState>
  activity?: Partial<Activity>
  /** The error with which reading the installation's mark from ClickHouse fails. */
  unreadable?: ClickHouseError
  refusing?: QueueName[]
  lateMs?: number
  visibleUntil?: StoredState['visibleUntil']
  letters?: number
  isLost?: boolean
  redis?: string
  shards?: string
  memory?: Error
  shardMemory?: Error
  difference?: string
  uptimeMs?: number
}

const empty: QueueState = {
  waiting: 0,
  active: 0,
  delayed: 0,
  rows: 0,
  jsonBytes: 0,
  redisBytes: 0,
  isPaused: false,
  oldestMs: undefined,
  isOldestExact: true,
  oldestAgeSeconds: 0,
  secondsToDrain: 0,
  waitingSeconds: 0,
}
const idle: Activity = {
  waitingMs: undefined,
  insertMs: undefined,
  failure: undefined,
  storedPerSecond: 0,
}

function problemsIn(situation: Situation) {
  const { logs, activity, unreadable, refusing = [], lateMs = 0, letters = 0 } = situation
  const time = '2026-11-30T12:00:00Z'
  const { visibleUntil = { logs: time, feedback: time } } = situation
  const stored: StoredState = { deadLetters: { logs: letters, feedback: 0 }, visibleUntil }
  const problems = startWorkerProblems({
    uptimeMs: () => situation.uptimeMs ?? 60_000,
    redisConnection: () => situation.redis,
    redisCheck: {
      problem: () => situation.memory?.message,
      error: () => situation.memory,
    },
    shardCheck: {
      problem: () => situation.shards,
      error: () => situation.shardMemory ?? situation.memory,
    },
    installation: {
      problem: () => unreadable?.message,
      error: () => unreadable,
      difference: () => situation.difference,
    },
    backlogs: {
      of: (kind) => ({ ...empty, ...(kind === 'logs' && logs) }),
      isLost: () => situation.isLost ?? false,
    },
    stored: { state: () => stored },
    activity: (kind: QueueName) => ({ ...idle, ...(kind === 'logs' && activity) }),
    refusals: perQueue((kind) => ({ isLong: () => refusing.includes(kind) })),
    watermark: { lateMs: () => lateMs },
    log: logTo(() => {}),
    metrics: createMetrics(),
  })
  const present = problems.present()
  problems.close()
  return present
}

const detailsIn = (situation: Situation) =>
  problemsIn(situation).map(({ code, detail }) => `${code}: ${detail}`)

const failed = (kind: 'retry' | 'operator') => new ClickHouseError(`it is ${kind}`, { kind })
const old = { waiting: 2, rows: 30, oldestAgeSeconds: 60, secondsToDrain: 20 }
const stuck = { logs: { waiting: 1, waitingSeconds: 61 }, activity: { waitingMs: 61_000 } }

const cases: [what: string, Situation, ...problems: string[]][] = [
  ['all is well', {}],
  ['Redis is away', { redis: 'not connected' }, 'redis_connection: not connected'],
  [
    'the process has just been started, for example because it was killed',
    { redis: 'not connected', uptimeMs: 1_000 },
    'process_ends: it has just started: not connected',
  ],
  [
    'Redis lost its data',
    { isLost: true },
    'redis_lost_its_data: Redis is new or has lost its data (see intake setup)',
  ],
  [
    'the memory of Redis is full',
    { memory: new ReplyError('OOM command not allowed') },
    'queue_full: Redis uses all of its maxmemory and accepts no writes: no frames can be claimed',
  ],
  [
    'the memory of one shard is full',
    { shardMemory: new ReplyError('OOM command not allowed') },
    'queue_full: Redis uses all of its maxmemory and accepts no writes: no frames can be claimed from a shard',
  ],
  [
    'Redis lost the rows that waited',
    { isLost: true, logs: { waiting: 2, rows: 30, oldestAgeSeconds: 60 } },
    'redis_lost_its_data: Redis is new or has lost its data (see intake setup)',
  ],
  ['ClickHouse is away', { unreadable: failed('retry') }, 'insert_retry: it is retry'],
  ['the password is wrong', { unreadable: failed('operator') }, 'insert_operator: it is operator'],
  ['the installations differ', { difference: 'they differ' }, 'configuration: they differ'],
  [
    'an insert is too large',
    { activity: { failure: { kind: 'split', reason: 'no memory' } } },
    'insert_split: inserts of logs fail: no memory',
  ],
  [
    'rows are rejected',
    { activity: { failure: { kind: 'rejected', reason: '27' } } },
    'insert_rejected: inserts of logs fail: 27',
  ],
  ['an insert of 4 s', { activity: { insertMs: 4_000 } }],
  [
    'an insert of 6 s',
    { activity: { insertMs: 6_000 } },
    'insert_stalled: an insert of logs has been running for 6 s',
  ],
  ['a table refuses', { refusing: ['logs'] }, 'rows_refused: logs'],
  ['a frame is delayed', { logs: { delayed: 1 } }, 'frame_postponed: frames of logs: 1'],
  ['dead letters', { letters: 3 }, 'dead_letters: logs: 3'],
  ['young rows', { logs: { ...old, oldestAgeSeconds: 4 } }],
  [
    'old rows',
    { logs: old },
    'backlog: logs: 30 rows wait, the oldest for 60 s; stored in about 20 s',
  ],
  [
    'old rows that stay',
    { logs: { ...old, secondsToDrain: Infinity } },
    'backlog: logs: 30 rows wait, the oldest for 60 s; not shrinking',
  ],
  [
    'old rows of unknown age',
    { logs: { ...old, oldestAgeSeconds: undefined, isPaused: true } },
    'queue_paused: logs',
    'backlog: logs: 30 rows wait; paused',
  ],
  ['the watermark is not advancing', { lateMs: 9_000 }, 'watermark: not stored for 9 s'],
  [
    'the watermark is not shown',
    { visibleUntil: { logs: '2026-11-30T12:00:00Z' } },
    'watermark: that of feedback is ahead of the clock, or missing',
  ],
  ['no watermark was read yet', { visibleUntil: {}, uptimeMs: 30_000 }],
  [
    'the loop takes nothing',
    stuck,
    'worker_stuck: frames of logs wait, and none was taken for 61 s',
  ],
  ['frames came just now', { ...stuck, logs: { ...stuck.logs, waitingSeconds: 3 } }],
  ['the loop waits for nothing', { ...stuck, logs: {} }],
]

for (const [what, situation, ...expected] of cases) {
  t.test(what, async (t) => t.same(detailsIn(situation), expected))
}

t.test('a worker is ready while only a server of other shards is away or full', async (t) => {
  const shards = 'not connected to b:6379'
  t.match(problemsIn({ shards }), [{ code: 'redis_connection', state: 'degraded', detail: shards }])
  t.match(problemsIn({ shards, redis: 'closed' }), [{ state: 'down', detail: 'closed' }])
  const memory = new ReplyError('OOM command not allowed')
  t.match(problemsIn({ shardMemory: memory }), [{ code: 'queue_full', state: 'degraded' }])
  t.match(problemsIn({ memory }), [{ code: 'queue_full', state: 'down' }])
})
