import type { Network } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import type { Stage } from '../scenario.ts'
import type { Cluster } from './cluster.ts'
import { backlogOf } from './observe.ts'

/** A process that can be killed and started again. */
interface Part {
  kill(): Promise<void>
  start(): Promise<void>
}

/**
 * Kills a part while a network of the cluster has faults, heals the network and starts the part
 * again; several times.
 *
 * @param options.when resolves at the moment of the kill; called when the network has its faults
 */
export async function killWhile(
  { cluster, acknowledged }: Stage,
  options: {
    part: Part
    link: keyof Cluster['network']
    network: Network
    when: () => Promise<unknown>
    rounds?: number
  },
): Promise<void> {
  const { part, network, when, rounds = 3 } = options
  const link = cluster.network[options.link]
  for (let round = 0; round < rounds; round++) {
    await acknowledged(30)
    link.set(network)
    await when()
    await part.kill()
    link.cut()
    link.set()
    await part.start()
  }
  await acknowledged(50)
}

/**
 * Like `killWhile` with the network between gateway and Redis, at the moment when Redis has stored
 * a frame. Until then the worker is frozen, so that the frame waits.
 */
export async function killWhenEnqueued(
  stage: Stage,
  options: { part: Part; network: Network },
): Promise<void> {
  const { keys, workers } = stage.cluster
  const waiting = async () => (await backlogOf(keys)).waiting
  await killWhile(stage, {
    ...options,
    link: 'gatewayToRedis',
    rounds: 5,
    async when() {
      workers[0]!.freeze()
      const before = await until('the queue can be read', waiting)
      await until('a frame is stored', async () => (await waiting()) > before)
      workers[0]!.thaw()
    },
  })
}
