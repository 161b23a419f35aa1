import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { queueNames, queuePrefix } from '@intake/queue'
import { until } from '@intake/test-kit/until'
import { preloadArgs } from '@intake/test-kit/app-process'
import { startCluster, type Cluster } from '../faults/kit/cluster.ts'
import { startHttpFake, type HttpFake, type Treatment } from '../faults/kit/http-fake.ts'
import { startSender } from './sender.ts'

/** A cluster under a little load, and functions that cause bad states. */
export interface Stage {
  cluster: Cluster
  /**
   * Puts a fake between two processes. It applies `treatment` to the requests that `concerns`
   * selects.
   */
  treat(
    network: 'workerToClickHouse' | 'gatewayToS3',
    concerns: (request: IncomingMessage) => boolean,
    treatment: Treatment,
  ): Promise<void>
  /** Removes the fakes. */
  heal(): Promise<void>
  /** Begins so many requests that further requests of the same key are refused. */
  holdRequests(): Promise<void>
  releaseRequests(): void
  /** Waits until frames of logs have been claimed; resolves to the ids of these frames. */
  untilClaimed(): Promise<string[]>
  close(): Promise<void>
}

/** The maximum of a gateway's connections. It is low, so that a few requests cause an overload. */
const connectionsMax = 24

export async function startStage(options: { root: string; dataDir: string }): Promise<Stage> {
  const { root, dataDir } = options
  const cluster = await startCluster({
    dataDir,
    root,
    random: Math.random,
    gatewayArgs: preloadArgs,
    gatewayEnv: { CONNECTIONS_MAX: String(connectionsMax) },
    consoles: 1,
  })
  const [url] = cluster.gatewayUrls
  const sender = startSender({ url: url!, apiKey: cluster.apiKey })
  const fakes: HttpFake[] = []
  let held: ClientRequest[] = []

  return {
    cluster,
    async treat(network, concerns, treatment) {
      const target = network === 'gatewayToS3' ? cluster.s3 : cluster.clickhouse
      const fake = await startHttpFake({ target: target.port(), concerns })
      fakes.push(fake)
      fake.set(treatment)
      cluster.network[network].redirect(fake.port)
      cluster.network[network].cut()
    },
    async heal() {
      cluster.network.gatewayToS3.redirect(cluster.s3.port())
      cluster.network.workerToClickHouse.redirect(cluster.clickhouse.port())
      for (const proxy of [cluster.network.gatewayToS3, cluster.network.workerToClickHouse]) {
        proxy.cut()
      }
      for (const fake of fakes.splice(0)) await fake.close()
    },
    async holdRequests() {
      held = Array.from({ length: connectionsMax - 4 }, () => {
        const slow = request(`${url}/api/log`, {
          method: 'POST',
          agent: false,
          headers: {
            'x-api-key': cluster.apiKey,
            'content-type': 'application/json',
            'content-length': '1000',
          },
        })
        slow.on('error', () => undefined)
        slow.write('{')
        return slow
      })
    },
    releaseRequests() {
      for (const slow of held.splice(0)) slow.destroy()
    },
    untilClaimed: () =>
      until('frames are claimed', async () => {
        const ids = await cluster.keys.lrange(`${queuePrefix}:${queueNames.logs}:active`, 0, -1)
        return ids.length > 0 && ids
      }),
    async close() {
      for (const slow of held) slow.destroy()
      await sender.stop()
      for (const fake of fakes) await fake.close()
      await cluster.close()
    },
  }
}
