import t from 'tap'
import { GatewayConfig } from '@intake/config'
import { shardsMax } from '@intake/queue'

t.test('QUEUE_SHARDS can be as large as there are tags for shards', async (t) => {
  t.match(GatewayConfig.properties.QUEUE_SHARDS, { maximum: shardsMax, default: 1 })
})
