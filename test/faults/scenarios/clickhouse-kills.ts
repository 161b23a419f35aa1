import { killWhile } from '../kit/kill-while.ts'
import { enqueueRows, logRow, rawRows, untilMoreRows } from '../kit/rows.ts'
import { killAtCall, mayTrace } from '../kit/strace.ts'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

const months = 80
const partialRoundsMax = 12

/** Kills ClickHouse three times as it enters one of the given system calls. */
async function killThrice({ cluster, acknowledged, random }: Stage, call: string) {
  for (let round = 0; round < 3; round++) {
    await acknowledged(30)
    await killAtCall(cluster.clickhouse, { call, nth: 1 + Math.floor(random() * 6) })
  }
  await acknowledged(30)
}

/** Scenarios in which ClickHouse is killed before and after every durable step of an insert. */
export const clickhouseKillScenarios: Scenario[] = [
  {
    id: 'F33',
    title: `ClickHouse killed during inserts over ${months} months, until one is stored in part`,
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
        await until('a part is stored', async () => (await rawRows(cluster)) > before, {
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
    id: 'F34a',
    title: 'ClickHouse killed as it syncs the files of an insert, three times',
    cannotRun: mayTrace,
    run: (stage) => killThrice(stage, 'fsync,fdatasync'),
  },
  {
    id: 'F34b',
    title: 'ClickHouse killed as it renames a part into place, three times',
    cannotRun: mayTrace,
    run: (stage) => killThrice(stage, 'rename,renameat,renameat2'),
  },
  {
    id: 'F34c',
    title: 'ClickHouse killed after an insert was stored, before its response, three times',
    async run(stage) {
      const { cluster } = stage
      await untilMoreRows(cluster, 0)
      await killWhile(stage, {
        part: cluster.clickhouse,
        link: 'workerToClickHouse',
        network: { holdAnswers: true },
        when: () => untilMoreRows(cluster),
      })
    },
  },
]
