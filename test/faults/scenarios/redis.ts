import { setTimeout as pause } from 'node:timers/promises'
import { until } from '@intake/test-kit/until'
import type { Scenario } from '../scenario.ts'

/**
 * Gives the gateway the longest enqueue timeout that is allowed. On a busy machine, repeating an
 * enqueue can take longer than the default timeout, but in these scenarios no request may fail.
 */
const patientGateway = { gatewayEnv: { ENQUEUE_TIMEOUT_MS: '10000' } }

export const redisScenarios: Scenario[] = [
  {
    id: 'F24',
    title: 'Redis frozen for 10 s: outcome_unknown in time, a retry creates no second record',
    async run({ cluster, acknowledged, producer, expect, history }) {
      await acknowledged(100)
      cluster.redis.freeze()
      const { unknown } = producer.counts()
      await until('outcomes are unknown', () => producer.counts().unknown > unknown + 10)
      await pause(4_000)
      cluster.redis.thaw()
      await acknowledged(200)
      const codes = history.events.flatMap((one) => (one.is === 'unknown' ? [one.why] : []))
      expect(codes.includes('outcome_unknown'), 'some responses are outcome_unknown')
    },
  },
  {
    id: 'F25',
    title: 'network to Redis works in one direction only, 6 s in each direction',
    async run({ cluster, acknowledged }) {
      for (const network of [{ holdRequests: true }, { holdAnswers: true }]) {
        await acknowledged(100)
        cluster.network.gatewayToRedis.set(network)
        cluster.network.workerToRedis.set(network)
        await pause(6_000)
        cluster.network.gatewayToRedis.set()
        cluster.network.workerToRedis.set()
      }
      await acknowledged(200)
    },
  },
  {
    id: 'F26',
    title:
      'reply of Redis to an add lost and the connection cut, ten times: still 201, stored once',
    cluster: patientGateway,
    async run({ cluster, acknowledged, expectNoFailure }) {
      for (let round = 0; round < 10; round++) {
        await acknowledged(40)
        cluster.network.gatewayToRedis.set({ dropAnswers: true })
        await pause(60)
        cluster.network.gatewayToRedis.set()
      }
      await acknowledged(100)
      expectNoFailure()
    },
  },
  {
    id: 'F30',
    title: 'SCRIPT FLUSH and CLIENT KILL TYPE normal under load: clients notice nothing',
    cluster: patientGateway,
    async run({ cluster, acknowledged, expectNoFailure }) {
      for (let round = 0; round < 5; round++) {
        await acknowledged(60)
        await cluster.keys.script('FLUSH')
        await cluster.keys.call('CLIENT', 'KILL', 'TYPE', 'normal')
      }
      await acknowledged(60)
      expectNoFailure()
    },
  },
]
