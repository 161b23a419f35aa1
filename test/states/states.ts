import { createAlertStore, createApiKeyStore } from '@intake/access'
import { queueNames, queuePrefix } from '@intake/queue'
import { createJobSink } from '@intake/queue/produce'
import { installationKey } from '@intake/redis'
import type { ProblemCode } from '@intake/health/problem-catalogue'
import { until } from '@intake/test-kit/until'
import { isInsert, type Treatment } from '../faults/kit/http-fake.ts'
import type { Way } from './observe.ts'
import type { Stage } from './stage.ts'

/** A process that reports states. */
export type Process = 'gateway' | 'worker' | 'console'

/** A bad state: how it is brought about, and how it is ended. */
export interface State {
  code: ProblemCode
  /** Continues the sentence "Brought about by …". */
  cause: string
  seenBy: Process
  /** The ways in which the state can be seen; by default all. */
  ways?: readonly Way[]
  begin(stage: Stage): Promise<void>
  end(stage: Stage): Promise<void>
}

const key = (kind: keyof typeof queueNames, part: string) =>
  `${queuePrefix}:${queueNames[kind]}:${part}`

const exception = (code: number): Treatment => ({
  is: 'answered',
  status: 500,
  headers: { 'X-ClickHouse-Exception-Code': String(code) },
})

/** A state in which ClickHouse responds to inserts with this exception. */
const insertsFailWith = (code: number): Pick<State, 'begin' | 'end'> => ({
  begin: ({ treat }) => treat('workerToClickHouse', isInsert, exception(code)),
  end: ({ heal }) => heal(),
})

/** A state that a setting of Redis brings about. `end` restores the setting. */
const setting = (
  name: string,
  value: string | ((stage: Stage) => Promise<string>),
): Pick<State, 'begin' | 'end'> => {
  let before = ''
  return {
    async begin(stage) {
      const { keys } = stage.cluster
      const [, known = ''] = await keys.config('GET', name)
      before = known
      await keys.config('SET', name, typeof value === 'string' ? value : await value(stage))
    },
    async end({ cluster }) {
      await cluster.keys.config('SET', name, before)
    },
  }
}

async function restartConsole(
  { cluster }: Stage,
  whileEnded: () => Promise<unknown> = async () => {},
): Promise<void> {
  const [viewer] = cluster.consoles
  await viewer!.kill()
  await whileEnded()
  await viewer!.start()
}

/** While this key exists, another console evaluates the alerts. */
const alertTurn = '{intake}:alerts:turn'
const today = () => new Date().toISOString().slice(0, 10)
/** The id of the API key with a budget. `begin` of `key_budget` sets it, and `end` uses it. */
let budgeted = ''

const frozen = (service: 'redis' | 'clickhouse' | 's3'): Pick<State, 'begin' | 'end'> => ({
  begin: async ({ cluster }) => cluster[service].freeze(),
  end: async ({ cluster }) => cluster[service].thaw(),
})

/** A state in which a table is missing. `then` runs when it is. */
const withoutTable = (
  table: string,
  then: (stage: Stage) => Promise<unknown> = async () => {},
): Pick<State, 'begin' | 'end'> => ({
  async begin(stage) {
    await stage.cluster.sql.command(`RENAME TABLE intake.${table} TO intake.${table}_away`)
    await then(stage)
  },
  end: ({ cluster }) => cluster.sql.command(`RENAME TABLE intake.${table}_away TO intake.${table}`),
})

/** A state in which Redis has this mark of the installation, or none. `end` restores the mark. */
const marked = (value?: string): Pick<State, 'begin' | 'end'> => {
  let before = ''
  return {
    async begin({ cluster: { keys } }) {
      before = (await keys.get(installationKey)) ?? ''
      if (value === undefined) await keys.del(installationKey)
      else await keys.set(installationKey, value)
    },
    end: async ({ cluster }) => void (await cluster.keys.set(installationKey, before)),
  }
}

/** A state in which the table of logs has a constraint that no row satisfies. */
const refusedRows: Pick<State, 'begin' | 'end'> = {
  begin: ({ cluster }) =>
    cluster.sql.command('ALTER TABLE intake.logs_raw ADD CONSTRAINT planted CHECK now() = 0'),
  async end({ cluster }) {
    await cluster.sql.command('ALTER TABLE intake.logs_raw DROP CONSTRAINT planted')
    // A row that was refused before can become a dead letter now.
    await until('no refused row is in progress', async () => {
      const frames = await cluster.keys.llen(key('logs', 'active'))
      await cluster.sql.command('TRUNCATE TABLE intake.dead_letters_raw')
      return frames === 0
    })
  },
}

export const states: State[] = [
  ...(['gateway', 'worker', 'console'] as const).map((seenBy): State => ({
    code: 'redis_connection',
    cause: 'Redis frozen',
    seenBy,
    ...frozen('redis'),
  })),
  ...(['gateway', 'worker'] as const).map((seenBy): State => ({
    code: 'redis_lost_its_data',
    cause: 'the mark of the installation deleted',
    seenBy,
    ...marked(),
  })),
  {
    code: 'configuration',
    cause: 'the mark of another installation in Redis',
    seenBy: 'worker',
    ...marked('another'),
  },
  {
    code: 'redis_could_lose_records',
    cause: '`CONFIG SET appendfsync everysec`',
    seenBy: 'gateway',
    ...setting('appendfsync', 'everysec'),
  },
  {
    code: 'queue_full',
    cause: '`maxmemory` lowered to what is used',
    seenBy: 'gateway',
    ...setting('maxmemory', async ({ cluster }) => {
      const used = /^used_memory:(\d+)/m.exec(await cluster.keys.info('memory'))?.[1]
      return String(Math.round(Number(used) * 1.1))
    }),
  },
  {
    code: 'queue_full',
    cause: '`maxmemory` lowered below what is used',
    seenBy: 'worker',
    ...setting('maxmemory', '1mb'),
  },
  {
    code: 'queue_paused',
    cause: 'the queue of logs paused',
    seenBy: 'worker',
    begin: async ({ cluster }) =>
      void (await cluster.keys.hset(key('logs', 'meta'), 'paused', '1')),
    end: async ({ cluster }) => void (await cluster.keys.hdel(key('logs', 'meta'), 'paused')),
  },
  {
    code: 'keys_full',
    cause: 'the count of reservations set to more than there may be',
    seenBy: 'gateway',
    async begin({ cluster }) {
      await cluster.keys.hset(usageOfToday(), 'another-key', String(10 ** 12))
    },
    end: async ({ cluster }) => void (await cluster.keys.hdel(usageOfToday(), 'another-key')),
  },
  {
    code: 'key_budget',
    cause: 'a budget of events that nine tenths are used of',
    seenBy: 'gateway',
    async begin({ cluster }) {
      const store = createApiKeyStore({ redis: cluster.keys })
      const { key: one } = await store.create({ name: 'budget', limits: { eventsPerDay: 10 } })
      await cluster.keys.set(`{intake}:rate:${one.id}:${today()}:events`, 9, 'EX', 90_000)
      budgeted = one.id
    },
    async end({ cluster }) {
      const store = createApiKeyStore({ redis: cluster.keys })
      await store.set(budgeted, { limits: { eventsPerDay: null } })
    },
  },
  {
    code: 'clock_skew',
    cause: 'the clock of the gateway set back by an hour',
    seenBy: 'gateway',
    begin: async ({ cluster }) => cluster.gateways[0]!.tell({ clockOffMs: -3_600_000 }),
    end: async ({ cluster }) => cluster.gateways[0]!.tell({ clockOffMs: 0 }),
  },
  {
    code: 'overloaded',
    cause: 'more slow requests of one key than its part of the places',
    seenBy: 'gateway',
    begin: async ({ holdRequests }) => holdRequests(),
    end: async ({ releaseRequests }) => releaseRequests(),
  },
  { code: 'object_store', cause: 'the object store frozen', seenBy: 'gateway', ...frozen('s3') },
  {
    code: 'attachments_left',
    cause: 'the object store refusing to store and to delete',
    seenBy: 'gateway',
    begin: ({ treat }) =>
      treat('gatewayToS3', ({ method }) => method === 'PUT' || method === 'DELETE', {
        is: 'answered',
        status: 403,
        body: '<Error><Code>AccessDenied</Code></Error>',
      }),
    end: ({ heal }) => heal(),
  },
  ...(['insert_retry', 'insert_stalled', 'backlog', 'watermark'] as const).map((code): State => ({
    code,
    cause: 'ClickHouse frozen',
    seenBy: 'worker',
    ...frozen('clickhouse'),
  })),
  {
    code: 'insert_operator',
    cause: 'the table of logs renamed',
    seenBy: 'worker',
    ...withoutTable('logs_raw'),
  },
  {
    code: 'insert_split',
    cause: 'ClickHouse responding 241 to inserts',
    seenBy: 'worker',
    ...insertsFailWith(241),
  },
  {
    code: 'frame_postponed',
    cause: 'ClickHouse responding with an unknown code to inserts',
    seenBy: 'worker',
    ...insertsFailWith(9_999),
  },
  ...(['insert_rejected', 'dead_letters'] as const).map((code): State => ({
    code,
    cause: 'a constraint that no row meets',
    seenBy: 'worker',
    ...refusedRows,
  })),
  {
    code: 'rows_refused',
    cause: 'a constraint that no row meets',
    seenBy: 'worker',
    ...refusedRows,
    async begin(stage) {
      const { workers, metric } = stage.cluster
      const postponed = () => metric(workers[0]!, 'intake_frames_postponed_total{kind="logs"}')
      const before = await postponed()
      await refusedRows.begin(stage)
      // The worker knows it only after a run of rejected rows.
      await until('a frame is postponed', async () => (await postponed()) > before)
    },
  },
  {
    code: 'frame_unreadable',
    cause: 'a job that is no frame',
    seenBy: 'worker',
    async begin({ cluster }) {
      const sink = createJobSink({ redis: cluster.keys, kind: 'logs' })
      await sink.add('not-a-frame', { version: 99 })
      await sink.close()
    },
    async end({ cluster }) {
      await cluster.keys.del(key('logs', 'not-a-frame'))
      await cluster.keys.zrem(key('logs', 'delayed'), 'not-a-frame')
    },
  },
  {
    code: 'locks_lost',
    cause: 'locks deleted while ClickHouse is frozen',
    seenBy: 'worker',
    async begin({ cluster, untilClaimed }) {
      cluster.clickhouse.freeze()
      for (const id of await untilClaimed()) await cluster.keys.del(key('logs', `${id}:lock`))
    },
    end: async ({ cluster }) => cluster.clickhouse.thaw(),
  },
  {
    code: 'page_fails',
    cause: 'the list of feedback asked for without its table',
    seenBy: 'console',
    // ClickHouse was frozen just now: as long as the page knows that, a slow view is no failure.
    ...withoutTable('feedback_raw', ({ cluster }) =>
      until('the list fails', async () => {
        const url = `${cluster.consoles[0]!.adminUrl()}/feedback`
        const response = await fetch(url, { signal: AbortSignal.timeout(30_000) })
        return !response.ok && !(await response.text()).includes('Accepting, not storing')
      }),
    ),
  },
  {
    code: 'counts_late',
    cause: 'the table of runs of counts renamed before the console starts',
    seenBy: 'console',
    // Counting is tried at the start, then once a minute.
    ...withoutTable('counted_raw', (stage) => restartConsole(stage)),
  },
  {
    code: 'alerts_late',
    cause: 'the table of alerts renamed before the console starts',
    seenBy: 'console',
    // Alerts are evaluated at the start, then once a minute.
    ...withoutTable('alerts_raw', async (stage) => {
      const redis = stage.cluster.keys
      await createAlertStore({ redis, who: 'states' }).add({
        bundle: 'com.example.app',
        event: 'crash',
        versionName: '',
        condition: 'above',
        threshold: 100,
        unit: 'events',
        minutes: 10,
      })
      await restartConsole(stage, () => redis.del(alertTurn))
    }),
  },
  {
    code: 'webhook_fails',
    cause: 'a receiver that responds 500',
    seenBy: 'console',
    begin: async ({ cluster }) => cluster.webhook!.treat('failed'),
    end: async ({ cluster }) => cluster.webhook!.treat('accepted'),
  },
  {
    code: 'request_refused',
    cause: 'an error while a frame is compressed',
    seenBy: 'gateway',
    begin: async ({ cluster }) => cluster.gateways[0]!.tell({ framingFails: true }),
    end: async ({ cluster }) => cluster.gateways[0]!.tell({ framingFails: false }),
  },
  // This state comes last: it kills the worker, and Prometheus does not know the port of the worker
  // that is started afterwards.
  {
    code: 'process_ends',
    cause: 'the worker killed; it cannot show that itself',
    seenBy: 'worker',
    ways: ['alert'],
    begin: ({ cluster }) => cluster.workers[0]!.kill(),
    end: ({ cluster }) => cluster.workers[0]!.start(),
  },
]

function usageOfToday(): string {
  return `{intake}:reservations:used:logs:${Math.floor(Date.now() / 86_400_000)}`
}
