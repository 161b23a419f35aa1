import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createIntake } from '../../tools/cli/test/in-process.ts'
import { startCluster } from '../faults/kit/cluster.ts'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** The cluster of all tests of this folder. */
export const cluster = await startCluster({
  dataDir: createDataDir(t),
  root,
  random: Math.random,
  gateways: 2,
  gatewayEnv: { DRAIN_MS: '10000' },
})
t.teardown(() => cluster.close())

const env = { REDIS_URL: cluster.redis.url(), CLICKHOUSE_URL: cluster.clickhouse.url() }

export const intake = createIntake({ cwd: root, env })
