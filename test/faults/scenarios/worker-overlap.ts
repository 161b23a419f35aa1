import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { preloadArgs } from '@intake/test-kit/app-process'
import { copyBuilt, type Edit } from '@intake/test-kit/built-copy'
import { framesInHand, queueKey, untilDone } from '../kit/observe.ts'
import { holdResponsesOfInserts } from '../kit/rows.ts'
import { blackHole } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'
import { hasTaken } from './worker.ts'

/**
 * Halts the only worker when ClickHouse has stored its insert but not responded yet. Resumes it
 * when another worker has completed the same frames.
 */
async function overtake(stage: Stage, { halt, resume }: { halt(): void; resume(): void }) {
  const { cluster, acknowledged, expect } = stage
  const [halted] = cluster.workers
  await acknowledged(50)
  await holdResponsesOfInserts(cluster)
  halt()
  const claimed = await framesInHand(cluster.keys)
  cluster.network.workerToClickHouse.set()
  const other = await cluster.addWorker()
  await untilDone(cluster.keys, claimed)
  resume()
  await until('lost locks are counted', async () => {
    const name = 'intake_frame_locks_lost_total{kind="logs"}'
    return (await cluster.metric(halted!, name)) > 0
  })
  await acknowledged(100)
  expect(halted!.running() && other.running(), 'both workers still run')
}

const builtWorker = 'worker/dist/deliver/worker.js'

/**
 * Edits that make a build behave like another version: its worker inserts each frame on its own,
 * without waiting for more frames.
 */
export const otherBuildEdits: Edit[] = [
  { file: builtWorker, find: 'framesMax: 256', replace: 'framesMax: 1' },
  { file: builtWorker, find: 'framesMax: 32', replace: 'framesMax: 1' },
]

function otherBuild({ dir, root }: Stage): string {
  const copy = join(dir, 'other-build')
  mkdirSync(copy)
  copyBuilt({ root, copy, edits: otherBuildEdits })
  return copy
}

/** Scenarios in which several workers have claimed the same frames. */
export const workerOverlapScenarios: Scenario[] = [
  {
    id: 'F16',
    title: 'a worker frozen during an insert for longer than its lock, while another takes over',
    run: (stage) =>
      overtake(stage, {
        halt: () => stage.cluster.workers[0]!.freeze(),
        resume: () => stage.cluster.workers[0]!.thaw(),
      }),
  },
  {
    id: 'F17a',
    title:
      'a worker whose event loop is blocked for longer than its lock, while another takes over',
    cluster: { workerArgs: preloadArgs },
    run(stage) {
      const busyWhile = join(stage.dir, 'busy')
      return overtake(stage, {
        halt() {
          writeFileSync(busyWhile, '')
          stage.cluster.workers[0]!.tell({ busyWhile })
        },
        resume: () => rmSync(busyWhile),
      })
    },
  },
  {
    id: 'F17b',
    title: 'a worker cut off from Redis for longer than its lock',
    async run(stage) {
      const { cluster } = stage
      await stage.acknowledged(50)
      cluster.network.workerToClickHouse.set(blackHole)
      await hasTaken(stage)
      cluster.network.workerToRedis.set(blackHole)
      await until('a lock has expired', async () => {
        const ids = await framesInHand(cluster.keys)
        const locks = await Promise.all(
          ids.map((id) => cluster.keys.exists(queueKey('logs', `${id}:lock`))),
        )
        return locks.includes(0)
      })
      cluster.network.workerToRedis.set()
      cluster.network.workerToClickHouse.set()
      await stage.acknowledged(100)
    },
  },
  {
    id: 'F18',
    title:
      'two builds of the worker with different batch sizes at once, each killed during an insert',
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      const ours = cluster.workers[0]!
      const other = await cluster.addWorker({ root: otherBuild(stage) })
      await acknowledged(200)
      const inserts = 'intake_inserts_total{kind="logs"}'
      await until('both have inserted', async () => (await cluster.metric(other, inserts)) > 0)
      const rowsPerInsert = async (worker: typeof ours) =>
        (await cluster.metric(worker, 'intake_rows_inserted_total{kind="logs"}')) /
        (await cluster.metric(worker, inserts))
      const sizes = [await rowsPerInsert(ours), await rowsPerInsert(other)] as const
      expect(sizes[0] > 2 * sizes[1], `their insert batches differ (${sizes.join(' and ')} rows)`)
      for (const killed of [ours, other]) {
        cluster.network.workerToClickHouse.set({ holdAnswers: true })
        await acknowledged(100)
        const claimed = await framesInHand(cluster.keys)
        await killed.kill()
        cluster.network.workerToClickHouse.set()
        await untilDone(cluster.keys, claimed)
        await killed.start()
      }
    },
  },
]
