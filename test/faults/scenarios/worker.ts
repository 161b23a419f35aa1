import { fakeInserts } from '../kit/http-fake.ts'
import { backlogOf, framesInHand, notDone, queueKey } from '../kit/observe.ts'
import { killWhile } from '../kit/kill-while.ts'
import { untilMoreRows } from '../kit/rows.ts'
import { blackHole } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import type { Scenario, Stage } from '../scenario.ts'

/** Resolves when a worker has claimed frames and its insert is held. */
export const hasTaken = ({ cluster }: Stage) =>
  until('an insert is held', async () => {
    const { workerToClickHouse } = cluster.network
    // A held request alone proves nothing, because it may be the insert of the watermark. So the
    // condition also requires claimed frames.
    return workerToClickHouse.requestsHeld() > 0 && (await framesInHand(cluster.keys)).length > 0
  })

/** Scenarios in which the worker is killed before and after every durable step of a frame. */
export const workerScenarios: Scenario[] = [
  {
    id: 'F12a',
    title: 'worker killed after Redis handed out frames, before it received them',
    run: (stage) =>
      killWhile(stage, {
        part: stage.cluster.workers[0]!,
        link: 'workerToRedis',
        // Delays replies instead of holding them, because a worker claims frames only after it has
        // got the reply to its peek.
        network: { latencyMs: 500 },
        rounds: 1,
        async when() {
          const { keys } = stage.cluster
          const before = await framesInHand(keys)
          await until('frames are handed out', async () =>
            (await framesInHand(keys)).some((id) => !before.includes(id)),
          )
        },
      }),
  },
  {
    id: 'F12',
    title: 'worker killed after it claimed frames, before the insert',
    async run(stage) {
      const { cluster } = stage
      await stage.acknowledged(100)
      const fake = await fakeInserts(stage)
      fake.set({ is: 'held' })
      await stage.acknowledged(100)
      // Kills the worker while its insert is held. If a worker completed frames before their
      // insert, this kill would lose them.
      await until('an insert is held', () => fake.treated() > 0)
      await cluster.workers[0]!.kill()
      fake.set({ is: 'passed' })
      await cluster.addWorker()
    },
  },
  {
    id: 'F13',
    title: 'worker killed after the insert was stored, before the response',
    async run(stage) {
      const { cluster } = stage
      // A worker reads the columns before its first insert.
      await untilMoreRows(cluster, 0)
      await killWhile(stage, {
        part: cluster.workers[0]!,
        link: 'workerToClickHouse',
        network: { holdAnswers: true },
        rounds: 1,
        when: () => untilMoreRows(cluster),
      })
    },
  },
  {
    id: 'F14',
    title: 'worker killed after the response to its insert, before the jobs were completed',
    async run(stage) {
      const { cluster } = stage
      const [worker] = cluster.workers
      await stage.acknowledged(50)
      // Lets the worker insert the frames that it has claimed, but holds the request to Redis that
      // completes them.
      cluster.network.workerToClickHouse.set(blackHole)
      await hasTaken(stage)
      const inserted = () => cluster.metric(worker!, 'intake_inserts_total{kind="logs"}')
      const before = await inserted()
      cluster.network.workerToRedis.set({ holdRequests: true })
      cluster.network.workerToClickHouse.set()
      await until('the insert is confirmed', async () => (await inserted()) > before)
      await worker!.kill()
      cluster.network.workerToRedis.cut()
      cluster.network.workerToRedis.set()
      await cluster.addWorker()
    },
  },
  {
    id: 'F14b',
    title: 'worker killed after the jobs were completed, before it received the reply',
    async run(stage) {
      const { cluster } = stage
      await stage.acknowledged(50)
      cluster.network.workerToClickHouse.set(blackHole)
      await hasTaken(stage)
      const claimed = await framesInHand(cluster.keys)
      cluster.network.workerToRedis.set({ swallowAnswers: true })
      cluster.network.workerToClickHouse.set()
      await until('jobs are completed', async () => {
        return (await notDone(cluster.keys, claimed)).length < claimed.length
      })
      await cluster.workers[0]!.kill()
      cluster.network.workerToRedis.set()
      await cluster.addWorker()
    },
  },
  {
    id: 'F15',
    title: 'a worker killed 25 times in a row on the same frames',
    load: { rate: 20 },
    async run(stage) {
      const { cluster } = stage
      const { keys } = cluster
      await stage.acknowledged(10)
      // Makes only inserts fail. Other requests must succeed, because a new worker claims no frame
      // before it has read the mark of the installation in ClickHouse.
      const fake = await fakeInserts(stage)
      fake.set({ is: 'answered', status: 503 })
      await stage.acknowledged(5)
      const isHeld = async () => fake.treated() > 0 && (await framesInHand(keys)).length > 0
      await until('an insert fails', isHeld)
      const ids = await framesInHand(keys)
      for (let kills = 1; kills <= 25; kills++) {
        const [worker] = cluster.workers
        await until('the frames are claimed', async () => {
          const active = await framesInHand(keys)
          const locked = await Promise.all(
            ids.map((id) => keys.exists(queueKey('logs', `${id}:lock`))),
          )
          return ids.every((id) => active.includes(id)) && locked.every((one) => one === 1)
        })
        await worker!.kill()
        // Simulates that time passes: the locks have expired, and the frames are marked as stalled.
        await keys.del(...ids.map((id) => queueKey('logs', `${id}:lock`)))
        await keys.sadd(queueKey('logs', 'stalled'), ...ids)
        await keys.del(queueKey('logs', 'stalled-check'))
        await worker!.start()
      }
      fake.set({ is: 'passed' })
      stage.expect((await backlogOf(keys)).failed === 0, 'no frame has failed permanently')
    },
  },
]
