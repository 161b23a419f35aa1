import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '../kit/history.ts'
import { shuffle } from '@intake/test-kit/random'
import { until } from '@intake/test-kit/until'
import type { Scenario } from '../scenario.ts'

/** Response times of the 201s in milliseconds, ascending. */
const acknowledgementTimes = (events: Event[]) =>
  events.flatMap((one) => (one.is === 'acknowledged' ? [one.ms] : [])).toSorted((a, b) => a - b)

/** The maximum time that the network of F49 adds to a response: 400 ms each way. */
const slowNetworkMs = 2 * 400

export const everythingScenarios: Scenario[] = [
  {
    id: 'F46',
    title: 'everything killed at once and started in random order, 20 times',
    cluster: { gateways: 2, workers: 2, consoles: 1 },
    async run({ cluster, acknowledged, random }) {
      const { redis, clickhouse, s3, gateways, workers, consoles } = cluster
      const all = [redis, clickhouse, s3, ...gateways, ...workers, ...consoles]
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
    title:
      'for 20 s every network has 200 ± 200 ms latency and one chunk in 100 cuts its connection',
    cluster: { gateways: 2, workers: 2 },
    networkMs: slowNetworkMs,
    async run({ cluster, acknowledged, history, expect }) {
      await acknowledged(100)
      const from = history.events.length
      for (const proxy of Object.values(cluster.network)) {
        proxy.set({ latencyMs: 200, jitterMs: 200, cutRate: 0.01 })
      }
      await pause(20_000)
      const times = acknowledgementTimes(history.events.slice(from))
      for (const proxy of Object.values(cluster.network)) proxy.set()
      await acknowledged(200)
      const p99 = times[Math.floor(times.length * 0.99)] ?? Infinity
      const limitMs = 5_000 + slowNetworkMs
      expect(p99 < limitMs, `99 % of the 201s come within ${limitMs} ms (${p99} ms)`)
    },
  },
  {
    id: 'F50',
    title:
      'rolling restarts behind a load balancer, one every 5 s for two minutes: no failed request',
    everyStoredIsAnswered: true,
    cluster: { gateways: 2, workers: 2, consoles: 1 },
    async run({ cluster, expect, expectNoFailure }) {
      const { gateways, gatewayUrls, workers, consoles, inRotation } = cluster
      const apps = [gateways[0]!, workers[0]!, consoles[0]!, gateways[1]!, workers[1]!]
      const end = performance.now() + 120_000
      for (let round = 0; performance.now() < end; round++) {
        const next = pause(5_000)
        const app = apps[round % apps.length]!
        const index = gateways.indexOf(app)
        const url = gatewayUrls[index] ?? ''
        inRotation.delete(url)
        const code = await app.terminate()
        expect(code === 0, `${app.name} exits with 0 (${code})`)
        await app.start()
        if (index >= 0) {
          await until('it is ready', () => cluster.gatewayReady(index))
          inRotation.add(url)
        }
        await next
      }
      expectNoFailure()
    },
  },
]
