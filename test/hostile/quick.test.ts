import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { hostileCases } from './cases/index.ts'
import { line } from './report.ts'
import { runCase } from './run-case.ts'
import { startStage } from './stage.ts'

/** The short form of `npm run test:hostile`: one attack of each kind, four seconds each. */
const quick = hostileCases.filter((one) => one.quick)
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
/** Twice the limit of the complete suite: other tests run at the same time. */
const slowestMsMax = 3_000
const needs = existsSync('/proc/self/status') ? false : 'the memory of a process is read from /proc'

t.test('other senders are not affected', { skip: needs }, async (t) => {
  const stage = await startStage({ dir: createDataDir(t), root })
  t.teardown(() => stage.close())
  for (const [run, hostile] of quick.entries()) {
    const { id, title } = hostile
    t.test(`${id}: the innocent sender is not affected by ${title}`, async (t) => {
      const options = { stage, run, attackMs: 4_000, records: 20, slowestMsMax, lessCpuWait: true }
      const result = await runCase(hostile, options)
      t.comment(line(result))
      t.same(result.reasons, [])
    })
  }
})
