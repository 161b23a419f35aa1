import { setTimeout as pause } from 'node:timers/promises'
import { fakeInserts, type Treatment } from '../kit/http-fake.ts'
import { backlogOf, memoryUsed } from '../kit/observe.ts'
import { untilMoreRows } from '../kit/rows.ts'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

/** How much memory Redis may use in addition to what it uses when ClickHouse goes down. */
const bufferBytes = 4 * 1024 ** 2

const exception = (code: number): Treatment => {
  return { is: 'answered', status: 500, headers: { 'X-ClickHouse-Exception-Code': String(code) } }
}

const wrongAnswers: Treatment[] = [
  { is: 'delayed', ms: 12_000 },
  { is: 'stored', code: 241 },
  { is: 'shortened' },
  ...[243, 242, 241].map(exception),
]

/** The metric that counts inserts of logs that failed in this way. */
const failures = (kind: string) => `intake_insert_failures_total{kind="logs",failure="${kind}"}`

async function insertsOf({ cluster }: Stage): Promise<{ count: number; rows: number }> {
  const [worker] = cluster.workers
  const count = await cluster.metric(worker!, 'intake_inserts_total{kind="logs"}')
  const rows = await cluster.metric(worker!, 'intake_rows_inserted_total{kind="logs"}')
  return { count, rows }
}

export const clickhouseScenarios: Scenario[] = [
  {
    id: 'F35a',
    title: 'ClickHouse down for 15 s under load: every response is 201, then the backlog drains',
    async run({ cluster, acknowledged, producer, expect }) {
      await acknowledged(50)
      await cluster.clickhouse.kill()
      const { refused, unknown } = producer.counts()
      await pause(15_000)
      const now = producer.counts()
      expect(now.refused + now.unknown === refused + unknown, 'no request failed')
      expect((await backlogOf(cluster.keys)).waiting > 0, 'frames are waiting')
      await cluster.clickhouse.start()
    },
  },
  {
    id: 'F35b',
    title:
      'ClickHouse down for longer than Redis can buffer: queue_full, for feedback later than for logs',
    // Frames must use most of the memory of Redis. So no log has an idempotency key, because Redis
    // would have to store the keys, too. Feedback always has a key.
    load: { rate: 300, feedbackEvery: 4, keyedEvery: 0 },
    async run(stage) {
      const { cluster, acknowledged, history, expect } = stage
      await acknowledged(100)
      await cluster.clickhouse.kill()
      const memoryMax = (await memoryUsed(cluster.keys)) + bufferBytes
      await cluster.keys.config('SET', 'maxmemory', String(memoryMax))
      const firstFull = (kind: 'logs' | 'feedback') => {
        const kinds = new Map<number, string>()
        return history.events.findIndex((one) => {
          if (one.is === 'issued') kinds.set(one.seq, one.kind)
          const full = one.is === 'refused' && one.code === 'queue_full'
          return full && kinds.get(one.seq) === kind
        })
      }
      await until('logs are refused', () => firstFull('logs') >= 0)
      await until('feedback is refused', () => firstFull('feedback') >= 0)
      expect(firstFull('logs') < firstFull('feedback'), 'feedback is refused later than logs')
      expect((await memoryUsed(cluster.keys)) < memoryMax, 'Redis is not at its limit')
      await cluster.clickhouse.start()
      await acknowledged(1_000)
    },
  },
  {
    id: 'F36',
    title: 'ClickHouse has too many parts (252): the next inserts are larger',
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      const limit = (parts: number) =>
        cluster.sql.command(
          `ALTER TABLE intake.logs_raw MODIFY SETTING parts_to_delay_insert = ${parts}, parts_to_throw_insert = ${parts}`,
        )
      await acknowledged(100)
      await untilMoreRows(cluster, 0)
      await limit(1)
      const refused = () => cluster.metric(cluster.workers[0]!, failures('retry'))
      await until('inserts are rejected', async () => (await refused()) > 1)
      const before = await insertsOf(stage)
      await limit(3_000)
      // The first accepted insert repeats the rejected one. The second one contains all frames that
      // arrived until then, so it is larger.
      await until('two are accepted', async () => (await insertsOf(stage)).count > before.count + 1)
      const after = await insertsOf(stage)
      const usual = before.rows / before.count
      const now = (after.rows - before.rows) / (after.count - before.count)
      expect(now > usual, `inserts have grown (from ${usual} to ${now} rows)`)
    },
  },
  {
    id: 'F37',
    title: 'connection to ClickHouse reset after the whole insert was sent, three times',
    async run({ cluster, acknowledged }) {
      // The worker reads the columns of the table only before its first insert.
      await untilMoreRows(cluster, 0)
      for (let round = 0; round < 3; round++) {
        await acknowledged(30)
        cluster.network.workerToClickHouse.set({ dropAnswers: true })
        await untilMoreRows(cluster)
        await pause(200)
        cluster.network.workerToClickHouse.set()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F38',
    title:
      'inserts answered too late, with 200 and an exception, with too few rows, or rejected: no space (243), read-only (242), memory (241)',
    cluster: { workerEnv: { INSERT_TIMEOUT_MS: '10000' } },
    async run(stage) {
      const { acknowledged } = stage
      await acknowledged(50)
      const fake = await fakeInserts(stage)
      for (const treatment of wrongAnswers) {
        const before = fake.treated()
        fake.set(treatment)
        await acknowledged(20)
        await until(`an insert was ${treatment.is}`, () => fake.treated() > before)
      }
      fake.set({ is: 'passed' })
      await acknowledged(50)
    },
  },
  {
    id: 'F41',
    title: 'a column missing, then the table: frames are kept until both are back',
    async run({ cluster, acknowledged, expect }) {
      const [worker] = cluster.workers
      const failed = () => cluster.metric(worker!, failures('operator'))
      const expectKept = async () => {
        const before = await failed()
        await until('inserts fail', async () => (await failed()) >= before + 2)
        const [letters] = await cluster.sql.query<{ n: number }>(
          'SELECT count() AS n FROM intake.dead_letters',
        )
        expect(letters?.n === 0, 'no row was dead-lettered')
      }
      await acknowledged(50)
      // Renames a column while the worker is stopped. If a column is renamed during an insert,
      // ClickHouse (26.7) stores the inserted rows with an empty column.
      const rename = async (from: string, to: string) => {
        await worker!.kill()
        await cluster.sql.command(`ALTER TABLE intake.logs_raw RENAME COLUMN ${from} TO ${to}`)
        await worker!.start()
      }
      await rename('event', 'event_away')
      await expectKept()
      await rename('event_away', 'event')
      await acknowledged(50)
      await cluster.sql.command('RENAME TABLE intake.logs_raw TO intake.logs_away')
      await expectKept()
      await cluster.sql.command('RENAME TABLE intake.logs_away TO intake.logs_raw')
    },
  },
]
