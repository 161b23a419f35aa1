import { changedLimits, preloadArgs } from '@intake/test-kit/app-process'
import { mayFakeTime, restartWithFakeTime } from '../kit/faketime.ts'
import { framesInHand, queueKey } from '../kit/observe.ts'
import { blackHole } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import type { Scenario } from '../scenario.ts'
import { hasTaken } from './worker.ts'

const hourMs = 60 * 60 * 1000
const steps = [hourMs, 0, -hourMs, 0]

/**
 * Makes gateways accept records with a clock skew of up to a day. With the usual limit they would
 * refuse all records while the clock of Redis is wrong, but F51c needs accepted records.
 */
const anyClock = changedLimits({ clockSkewMaxMs: 24 * hourMs })

/** Scenarios in which wall clocks jump under load. */
export const clockScenarios: Scenario[] = [
  {
    id: 'F51b',
    title: 'the clock of one of two workers jumps by hours while frames are in progress',
    cluster: { workers: 2, workerArgs: preloadArgs },
    async run(stage) {
      const { cluster, acknowledged } = stage
      for (const clockOffMs of steps) {
        await acknowledged(50)
        cluster.network.workerToClickHouse.set(blackHole)
        await hasTaken(stage)
        cluster.workers[0]!.tell({ clockOffMs })
        await lockTimePasses()
        cluster.network.workerToClickHouse.set()
      }
      await acknowledged(100)

      /**
       * Resolves when the lock of every frame that is in progress at the call has been renewed or
       * has expired.
       */
      async function lockTimePasses(): Promise<void> {
        const left = new Map((await framesInHand(cluster.keys)).map((id) => [id, Infinity]))
        await until('locks were renewed or have expired', async () => {
          for (const [id, before] of left) {
            const now = await cluster.keys.pttl(queueKey('logs', `${id}:lock`))
            if (now < 0 || now > before) left.delete(id)
            else left.set(id, now)
          }
          return left.size === 0
        })
      }
    },
  },
  {
    id: 'F51c',
    title: 'the clock of Redis jumps by hours',
    cannotRun: mayFakeTime,
    cluster: { workers: 2, gatewayArgs: anyClock.args, gatewayEnv: anyClock.env },
    async run({ cluster, acknowledged, dir, expect }) {
      const setOffMs = await restartWithFakeTime(cluster.redis, dir)
      for (const offMs of steps) {
        await acknowledged(150)
        setOffMs(offMs)
        const [seconds] = await cluster.keys.time()
        const actualMs = Number(seconds) * 1000 - Date.now()
        expect(
          Math.abs(actualMs - offMs) < 5_000,
          `the clock of Redis is off by ${offMs} (${actualMs})`,
        )
      }
      await acknowledged(150)
    },
  },
]
