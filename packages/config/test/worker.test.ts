import t from 'tap'
import { loadConfig } from '@intake/runtime/config'
import { WorkerConfig } from '../src/worker.ts'

const load = (env: Record<string, string>) =>
  loadConfig(WorkerConfig, { REDIS_URL: 'redis://x', CLICKHOUSE_URL: 'http://x', ...env })

t.test('a quorum needs a cluster', async (t) => {
  load({})
  load({ CLICKHOUSE_CLUSTER: 'fleet', CLICKHOUSE_INSERT_QUORUM: 'auto' })
  const wrong = { CLICKHOUSE_INSERT_QUORUM: '2' }
  t.throws(() => load(wrong), {
    message: /CLICKHOUSE_INSERT_QUORUM needs CLICKHOUSE_CLUSTER/,
  })
})

t.test('a quorum of one and a cluster that is not a plain name are refused', async (t) => {
  t.throws(() => load({ CLICKHOUSE_INSERT_QUORUM: '1' }), /CLICKHOUSE_INSERT_QUORUM/)
  t.throws(() => load({ CLICKHOUSE_CLUSTER: "a'b" }), /CLICKHOUSE_CLUSTER/)
})
