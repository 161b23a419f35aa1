import { createApiKeyStore } from '@intake/access'
import { startCluster, type Cluster } from '../faults/kit/cluster.ts'

/** Redis, ClickHouse, S3 and a worker, shared by the cases, which add a gateway each. */
export interface Stage {
  cluster: Cluster
  attackerKey: string
  dir: string
  root: string
}

const attackerKey = 'hostile-key-0123456789abcdef'
/** The maximum heap of a gateway. A gateway that needs more memory crashes instead of growing. */
const heapMiB = 512

/**
 * Limits that an attack cannot reach. An attack comes from one device with one key, so the usual
 * limits would soon end it.
 */
const atFullForce = {
  EVENTS_PER_MINUTE_MAX: '1000000000',
  LOG_BYTES_PER_MINUTE_MAX: String(2 ** 50),
  FEEDBACK_PER_MINUTE_MAX: '1000000000',
  ATTACHMENT_BYTES_PER_MINUTE_MAX: String(2 ** 50),
  DEVICE_EVENTS_PER_MINUTE_MAX: '1000000000',
  DEVICE_FEEDBACK_PER_MINUTE_MAX: '1000000000',
}

/**
 * Starts the services that all cases share.
 *
 * @param options.root directory of the built code to test
 */
export async function startStage(options: { dir: string; root: string }): Promise<Stage> {
  const { dir, root } = options
  const cluster = await startCluster({
    dataDir: dir,
    root,
    random: Math.random,
    // The innocent sender runs in this process, so no proxy may use its CPU.
    isDirect: true,
    gateways: 0,
    gatewayEnv: atFullForce,
    gatewayArgs: [`--max-old-space-size=${heapMiB}`],
  })
  try {
    const keys = createApiKeyStore({ redis: cluster.keys })
    await keys.create({ name: 'hostile', secret: attackerKey })
  } catch (error) {
    await cluster.close()
    throw error
  }
  return { cluster, attackerKey, dir, root }
}
