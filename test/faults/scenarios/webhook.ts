import { setTimeout as pause } from 'node:timers/promises'
import { until } from '@intake/test-kit/until'
import { announcedAgain } from '../kit/check-webhook.ts'
import { queuePrefix } from '@intake/queue'
import { feedbackWebhook } from '@intake/queue/consume'
import { drained } from '../kit/checker.ts'
import { queueKey } from '../kit/observe.ts'
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
    async run({ cluster, acknowledged, producer, expect }) {
      const { keys, network } = cluster
      await acknowledged(60)
      const requests = (part: string) => `${queuePrefix}:${feedbackWebhook.name}:${part}`
      const open = async () =>
        (await keys.llen(requests('wait'))) + (await keys.llen(requests('active')))
      // With this latency, the announcement is seen here long before the worker gets the reply to it.
      network.workerToRedis.set({ latencyMs: 500 })
      await acknowledged(60)
      await until('no request is open', async () => (await open()) === 0, { everyMs: 1 })
      await until('feedback is announced', async () => (await open()) > 0, { everyMs: 1 })
      await cluster.workers[0]!.kill()
      network.workerToRedis.cut()
      network.workerToRedis.set()
      const claimed = await keys.llen(queueKey('feedback', 'active'))
      expect(claimed > 0, 'the frame was not completed')
      await cluster.addWorker()
      await acknowledged(60)
      await producer.stop()
      await drained(cluster)
      await until('every request was sent', async () => (await open()) === 0)
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
