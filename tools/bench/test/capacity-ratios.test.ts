import t from 'tap'
import type { CpuByPart } from '../accounting.ts'
import { capacityRatios, type Costs } from '../capacity-ratios.ts'

const cost = (gateway: number, redis: number, worker: number): CpuByPart => ({
  gateway,
  redis,
  worker,
  clickhouse: 50,
  load: 30,
  other: 1,
})

const costs: Costs = new Map([
  ['intake', cost(130, 20, 10)],
  ['bare', cost(100, 0, 0)],
  ['durable', cost(104, 20, 10)],
  ['naive', cost(200, 100, 300)],
])

t.test('the ratios compare the components that they name', async (t) => {
  t.match(capacityRatios([costs]), [
    { item: '1', values: [1.3], limit: 1.6 },
    { item: '1', values: [1.25], limit: 1.35 },
    { item: '2', values: [0.5], limit: 0.5 },
    // Beyond `bare`, Intake costs 60 µs and `naive` 500 µs.
    { item: '2', values: [0.12], limit: 0.125 },
  ])
})

t.test('each turn has its own ratio, from the costs of that turn', async (t) => {
  const slow: Costs = new Map([
    ['intake', cost(300, 20, 10)],
    ['bare', cost(200, 0, 0)],
    ['durable', cost(200, 20, 10)],
    ['naive', cost(200, 440, 300)],
  ])
  const [, durable, gatewayAndRedis] = capacityRatios([costs, slow])
  t.same(durable?.values, [1.25, 1.5])
  t.same(gatewayAndRedis?.values, [0.5, 0.5])
})
