import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { hostileCases } from '../cases/index.ts'
import { line } from '../report.ts'
import { runCase } from '../run-case.ts'
import { startStage } from '../stage.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
/**
 * The longest response time that is allowed. It is twice the limit of the complete suite, because
 * other tests run at the same time.
 */
const slowestMsMax = 3_000
const needs = existsSync('/proc/self/status') ? false : 'the memory of a process is read from /proc'

// The short form of `npm run test:hostile`: some cases, each with an attack of four seconds.
t.test('other senders are not affected', { skip: needs }, async (t) => {
  const stage = await startStage({ dir: createDataDir(t), root })
  t.teardown(() => stage.cluster.close())
  for (const [run, id] of ['a1', 'b1', 'd1', 'f1'].entries()) {
    const hostile = hostileCases.find((one) => one.id === id)
    if (hostile === undefined) throw new Error(`no case ${id}`)
    t.test(`${id}: the innocent sender is not affected by ${hostile.title}`, async (t) => {
      const options = {
        stage,
        run,
        attackMs: 4_000,
        records: 20,
        slowestMsMax,
      }
      const result = await runCase(hostile, options)
      t.comment(line(result))
      t.same(result.reasons, [])
    })
  }
})
