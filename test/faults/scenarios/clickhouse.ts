import { setTimeout as pause } from 'node:timers/promises'
import { startHttpFake, type Treatment } from '../kit/http-fake.ts'
import { backlogOf } from '../kit/observe.ts'
import { enqueueRows, logRow } from '../kit/rows.ts'
import { until } from '../kit/until.ts'
import type { Scenario, Stage } from '../scenario.ts'
import { rawRows } from './worker.ts'

const months = 80
const partialRoundsMax = 12

/** Inserts meet a server that treats them so, three times; then all is well again. */
async function treat(stage: Stage, treatments: Treatment[]): Promise<void> {
  const { cluster, acknowledged } = stage
  const fake = await startHttpFake({ target: cluster.clickhouse.port() })
  stage.later(() => fake.close())
  const proxy = cluster.network.workerToClickHouse
  await acknowledged(50)
  proxy.redirect(fake.port)
  proxy.cut()
  for (const treatment of treatments) {
    const before = fake.treated()
    fake.set(treatment)
    await acknowledged(20)
    await until(`an insert was ${treatment.is}`, () => fake.treated() > before)
  }
  fake.set({ is: 'passed' })
  await acknowledged(50)
}

export const clickhouseScenarios: Scenario[] = [
  {
    id: 'F33a',
    title: 'ClickHouse killed during inserts and started again, five times',
    async run({ cluster, acknowledged, random }) {
      for (let round = 0; round < 5; round++) {
        const before = await rawRows(cluster)
        await acknowledged(30)
        await until('rows arrive', async () => (await rawRows(cluster)) > before)
        await pause(random() * 500)
        await cluster.clickhouse.kill()
        await pause(random() * 500)
        await cluster.clickhouse.start()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F33b',
    title: `ClickHouse killed during an insert over ${months} months, until it was stored in part`,
    load: { rate: 5, feedbackEvery: 0 },
    cluster: { workers: 0 },
    async run(stage) {
      const { cluster, history, payload, expect } = stage
      let seen = false
      for (let round = 1; round <= partialRoundsMax && !seen; round++) {
        const frames = Array.from(Array(months).keys(), (month) =>
          Array.from(Array(5).keys(), (index) => {
            const seq = 1_000_000 * round + month * 5 + index
            const time = new Date(Date.UTC(2020, 1 + month, 3, 0, 0, 0, index))
            return { seq, ...logRow(payload(seq), time) }
          }),
        )
        await enqueueRows({ cluster, history, frames })
        const before = await rawRows(cluster)
        const worker = cluster.workers[0] ?? (await cluster.addWorker())
        await worker.start()
        await until('a part is there', async () => (await rawRows(cluster)) > before, {
          everyMs: 1,
        })
        await cluster.clickhouse.kill()
        await worker.kill()
        await cluster.clickhouse.start()
        const after = (await rawRows(cluster)) - before
        seen = after > 0 && after < months * 5
      }
      if (seen) stage.sawPartialInsert()
      expect(seen, `one of ${partialRoundsMax} killed inserts was stored in part`)
    },
  },
  {
    id: 'F35',
    title: 'ClickHouse down for 15 s under load: 201 all the while, then it drains',
    async run({ cluster, acknowledged, producer, expect }) {
      await acknowledged(50)
      await cluster.clickhouse.kill()
      const { refused, unknown } = producer.counts()
      await pause(15_000)
      const now = producer.counts()
      expect(now.refused + now.unknown === refused + unknown, 'no request noticed')
      expect((await backlogOf(cluster.keys)).waiting > 0, 'frames are waiting')
      await cluster.clickhouse.start()
    },
  },
  {
    id: 'F36a',
    title: 'ClickHouse answers later than the deadline of an insert',
    cluster: { workerEnv: { INSERT_DEADLINE_MS: '1000' } },
    run: (stage) => treat(stage, [{ is: 'delayed', ms: 3_000 }]),
  },
  {
    id: 'F36b',
    title: 'ClickHouse has too many parts (252)',
    async run({ cluster, acknowledged }) {
      const limit = (parts: number) =>
        cluster.sql.command(
          `ALTER TABLE intake.logs_raw MODIFY SETTING parts_to_delay_insert = ${parts}, parts_to_throw_insert = ${parts}`,
        )
      await acknowledged(100)
      await until('a part is there', async () => (await rawRows(cluster)) > 0)
      await limit(1)
      const refused = () =>
        cluster.metric(
          cluster.workers[0]!,
          'intake_insert_failures_total{kind="logs",failure="retry"}',
        )
      await until('inserts are refused', async () => (await refused()) > 1)
      await limit(3_000)
    },
  },
  {
    id: 'F37',
    title: 'connection to ClickHouse reset after the whole insert was sent, three times',
    async run({ cluster, acknowledged }) {
      for (let round = 0; round < 3; round++) {
        await acknowledged(30)
        const before = await rawRows(cluster)
        cluster.network.workerToClickHouse.set({ dropAnswers: true })
        await until('an insert is stored', async () => (await rawRows(cluster)) > before)
        await pause(200)
        cluster.network.workerToClickHouse.set()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F38a',
    title: 'ClickHouse answers 200 with an exception in the header',
    run: (stage) => treat(stage, [{ is: 'stored', code: 241 }]),
  },
  {
    id: 'F38b',
    title: 'ClickHouse reports too few written rows',
    run: (stage) => treat(stage, [{ is: 'shortened' }]),
  },
  {
    id: 'F40',
    title: 'ClickHouse refuses inserts: no space (243), read-only (242), memory (241)',
    run: (stage) =>
      treat(stage, [
        { is: 'answered', status: 500, code: 243 },
        { is: 'answered', status: 500, code: 242 },
        { is: 'answered', status: 500, code: 241 },
      ]),
  },
  {
    id: 'F41a',
    title: 'table missing: rows are held until it is back',
    async run({ cluster, acknowledged, expect }) {
      await acknowledged(50)
      await cluster.sql.command('RENAME TABLE intake.logs_raw TO intake.logs_away')
      const held = () =>
        cluster.metric(
          cluster.workers[0]!,
          'intake_insert_failures_total{kind="logs",failure="hold"}',
        )
      await until('inserts are held', async () => (await held()) >= 2)
      await cluster.sql.command('RENAME TABLE intake.logs_away TO intake.logs_raw')
      const [letters] = await cluster.sql.query<{ n: number }>(
        'SELECT count() AS n FROM intake.dead_letters',
      )
      expect(letters?.n === 0, 'no row became a dead letter')
    },
  },
  {
    id: 'F41b',
    title: 'column missing: rows are held until it is back',
    async run({ cluster, acknowledged, expect }) {
      await acknowledged(50)
      await cluster.sql.command('ALTER TABLE intake.logs_raw RENAME COLUMN event TO event_away')
      const held = () =>
        cluster.metric(
          cluster.workers[0]!,
          'intake_insert_failures_total{kind="logs",failure="hold"}',
        )
      await until('inserts are held', async () => (await held()) >= 2)
      await cluster.sql.command('ALTER TABLE intake.logs_raw RENAME COLUMN event_away TO event')
      const [letters] = await cluster.sql.query<{ n: number }>(
        'SELECT count() AS n FROM intake.dead_letters',
      )
      expect(letters?.n === 0, 'no row became a dead letter')
    },
  },
]
