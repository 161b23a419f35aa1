import { setTimeout as pause } from 'node:timers/promises'
import { backlogOf } from '../kit/observe.ts'
import type { Network } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import { startUpload } from '../kit/upload.ts'
import type { Scenario, Stage } from '../scenario.ts'

/** Kills the gateway three times, while the faults in `network` make feedback wait for S3. */
async function killAtImages({ cluster, acknowledged, issued }: Stage, network: Network) {
  const { gatewayToS3 } = cluster.network
  for (let round = 0; round < 3; round++) {
    await acknowledged(30)
    gatewayToS3.set(network)
    await issued(30)
    await cluster.gateways[0]!.kill()
    gatewayToS3.cut()
    gatewayToS3.set()
    await cluster.gateways[0]!.start()
  }
  await acknowledged(30)
}

/** Scenarios in which the gateway is killed before and after every durable step of a record. */
export const gatewayKillScenarios: Scenario[] = [
  {
    id: 'F1',
    title: 'gateway killed while it reads bodies',
    async run({ cluster, acknowledged }) {
      for (let round = 0; round < 3; round++) {
        const uploads = Array.from({ length: 10 }, () => startUpload(cluster, 100_000))
        await acknowledged(50)
        await cluster.gateways[0]!.kill()
        await cluster.gateways[0]!.start()
        for (const upload of uploads) upload.destroy()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F2a',
    title: 'gateway killed after a key was reserved, before the images were stored',
    load: { rate: 60, feedbackEvery: 3 },
    run: (stage) => killAtImages(stage, { holdRequests: true }),
  },
  {
    id: 'F2b',
    title: 'gateway killed after the images were stored, before the record was enqueued',
    load: { rate: 60, feedbackEvery: 3 },
    run: (stage) => killAtImages(stage, { holdAnswers: true }),
  },
  {
    id: 'F3a',
    title: 'gateway killed before Redis received the frame, five times',
    async run({ cluster, acknowledged, issued }) {
      const { gatewayToRedis } = cluster.network
      for (let round = 0; round < 5; round++) {
        await acknowledged(30)
        gatewayToRedis.set({ holdRequests: true })
        await issued(30)
        await cluster.gateways[0]!.kill()
        gatewayToRedis.cut()
        gatewayToRedis.set()
        await cluster.gateways[0]!.start()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F3b',
    title: 'gateway killed after Redis has stored the frame, before the 201, five times',
    async run({ cluster, acknowledged }) {
      const { gatewayToRedis } = cluster.network
      const waiting = async () => (await backlogOf(cluster.keys)).waiting
      for (let round = 0; round < 5; round++) {
        cluster.workers[0]!.freeze()
        await acknowledged(30)
        gatewayToRedis.set({ swallowAnswers: true })
        const before = await waiting()
        await until('a frame is stored', async () => (await waiting()) > before)
        await cluster.gateways[0]!.kill()
        gatewayToRedis.set()
        cluster.workers[0]!.thaw()
        await cluster.gateways[0]!.start()
      }
      await acknowledged(50)
    },
  },
  {
    id: 'F4',
    title: 'one of two busy gateways killed, ten times',
    cluster: { gateways: 2 },
    load: { rate: 500 },
    async run({ cluster, acknowledged, random }) {
      for (let round = 0; round < 10; round++) {
        await acknowledged(200)
        await pause(random() * 100)
        const gateway = cluster.gateways[round % 2]!
        await gateway.kill()
        await gateway.start()
      }
      await acknowledged(200)
    },
  },
]
