import { setTimeout as pause } from 'node:timers/promises'
import { killWhenEnqueued, killWhile } from '../kit/kill-while.ts'
import { startUpload } from '../kit/upload.ts'
import type { Scenario } from '../scenario.ts'

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
  ...(
    [
      ['F2a', 'after a key was reserved, before the images were stored', { holdRequests: true }],
      [
        'F2b',
        'after the images were stored, before the record was enqueued',
        { holdAnswers: true },
      ],
    ] as const
  ).map(([id, moment, network]): Scenario => ({
    id,
    title: `gateway killed ${moment}`,
    load: { rate: 60, feedbackEvery: 3 },
    run: (stage) =>
      killWhile(stage, {
        part: stage.cluster.gateways[0]!,
        link: 'gatewayToS3',
        network,
        when: () => stage.issued(30),
      }),
  })),
  {
    id: 'F3a',
    title: 'gateway killed before Redis received the frame, five times',
    run: (stage) =>
      killWhile(stage, {
        part: stage.cluster.gateways[0]!,
        link: 'gatewayToRedis',
        network: { holdRequests: true },
        when: () => stage.issued(30),
        rounds: 5,
      }),
  },
  {
    id: 'F3b',
    title: 'gateway killed after Redis has stored the frame, before the 201, five times',
    run: (stage) =>
      killWhenEnqueued(stage, {
        part: stage.cluster.gateways[0]!,
        network: { swallowAnswers: true },
      }),
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
