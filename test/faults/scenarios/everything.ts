import { setTimeout as pause } from 'node:timers/promises'
import { shuffle } from '../kit/random.ts'
import type { Scenario } from '../scenario.ts'

export const everythingScenarios: Scenario[] = [
  {
    id: 'F46',
    title: 'everything killed at once and started in random order, 20 times',
    cluster: { gateways: 2, workers: 2 },
    async run({ cluster, acknowledged, random }) {
      const { redis, clickhouse, s3, gateways, workers } = cluster
      const all = [redis, clickhouse, s3, ...gateways, ...workers]
      for (let round = 0; round < 20; round++) {
        await acknowledged(40)
        await pause(random() * 300)
        await Promise.all(all.map((one) => one.kill()))
        await Promise.all(
          shuffle(all, random).map(async (one, place) => {
            await pause(place * random() * 100)
            await one.start()
          }),
        )
      }
      await acknowledged(40)
    },
  },
  {
    id: 'F49',
    title: 'every network with 100 ± 100 ms and one cut in 200 chunks for 20 s',
    cluster: { gateways: 2, workers: 2 },
    async run({ cluster, acknowledged }) {
      await acknowledged(100)
      for (const proxy of Object.values(cluster.network)) {
        proxy.set({ latencyMs: 100, jitterMs: 100, cutRate: 0.005 })
      }
      await pause(20_000)
      for (const proxy of Object.values(cluster.network)) proxy.set()
      await acknowledged(200)
    },
  },
  {
    id: 'F50',
    title: 'rolling restarts of gateways and workers, one every 5 s for two minutes',
    everyStoredIsAnswered: true,
    cluster: { gateways: 2, workers: 2 },
    async run({ cluster, expect, producer, history }) {
      const apps = [...cluster.gateways, ...cluster.workers]
      const until = performance.now() + 120_000
      for (let round = 0; performance.now() < until; round++) {
        const next = pause(5_000)
        const app = apps[round % apps.length]!
        const code = await app.terminate()
        expect(code === 0, `${app.name} ends with 0 (${code})`)
        await app.start()
        await next
      }
      const { issued } = producer.counts()
      const server = history.events.filter((one) => one.is === 'refused' && one.status === 503)
      const share = server.length / issued
      expect(share <= 0.001, `at most 0.1 % are answered 503 (${server.length} of ${issued})`)
    },
  },
]
