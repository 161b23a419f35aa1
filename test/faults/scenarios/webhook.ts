import { setTimeout as pause } from 'node:timers/promises'
import { until } from '@intake/test-kit/until'
import { announcedAgain } from '../kit/check-webhook.ts'
import { redeliveriesOf } from '../kit/observe.ts'
import type { Scenario } from '../scenario.ts'

const rounds = 5
/** The number of requests that a console sends at once, which a kill can make it send again. */
const atOnce = 4

/**
 * Scenarios in which processes are killed around a request of the webhook. That each visible
 * feedback is announced is always checked.
 */
export const webhookScenarios: Scenario[] = [
  {
    id: 'F68',
    title:
      'worker killed after it announced feedback, before it completed the frame: no second request',
    cluster: { consoles: 1 },
    load: { rate: 30, feedbackEvery: 5 },
    async run({ cluster, acknowledged, expect }) {
      const { keys, network, webhook } = cluster
      await acknowledged(60)
      // With this latency, the console sends a request long before the worker gets the reply to its
      // announcement.
      network.workerToRedis.set({ latencyMs: 500 })
      await acknowledged(60)
      const before = webhook!.accepted.size
      await until('feedback is announced', () => webhook!.accepted.size > before, { everyMs: 5 })
      await cluster.workers[0]!.kill()
      network.workerToRedis.cut()
      network.workerToRedis.set()
      const redeliveries = await redeliveriesOf(keys)
      await cluster.addWorker()
      await until('a frame is redelivered', async () => {
        return (await redeliveriesOf(keys)) > redeliveries
      })
      await acknowledged(60)
      expect(announcedAgain(cluster) === 0, 'no feedback was announced again')
    },
  },
  {
    id: 'F69',
    title: 'worker, console and Redis killed while feedback is announced: each is announced',
    cluster: { consoles: 2 },
    load: { rate: 30, feedbackEvery: 5 },
    async run({ cluster, acknowledged, random, expect }) {
      const { workers, consoles, redis, webhook } = cluster
      await acknowledged(60)
      webhook!.treat('held')
      await until('a request is open', () => webhook!.held() > 0)
      await Promise.all(consoles.map((one) => one.kill()))
      webhook!.treat('accepted')
      await Promise.all(consoles.map((one) => one.start()))
      for (let round = 0; round < rounds; round++) {
        await acknowledged(20)
        await pause(random() * 500)
        const killed = [workers[0]!, consoles[round % 2]!, ...(round === 2 ? [redis] : [])]
        await Promise.all(killed.map((one) => one.kill()))
        await Promise.all(killed.map((one) => one.start()))
      }
      await acknowledged(20)
      // Without Redis, no console can note which requests were accepted.
      const again = announcedAgain(cluster)
      const most = (rounds + 2) * atOnce
      expect(again <= most, `no more than ${most} are announced again (${again})`)
    },
  },
]
