import t from 'tap'
import { addCounter, addGauge, Registry, type GaugeValues } from '../src/metrics.ts'

t.test('a metric that is read at each scrape is absent while it has no values', async (t) => {
  const registry = new Registry()
  let gauge: GaugeValues<never> = []
  let labelled: GaugeValues<'kind'> = []
  addGauge(registry, { name: 'gauge', help: 'h', read: () => gauge })
  addGauge(registry, { name: 'labelled', help: 'h', labels: ['kind'], read: () => labelled })
  addCounter(registry, { name: 'counter', help: 'h', labels: ['kind'], read: () => labelled })
  const samples = async () => (await registry.metrics()).match(/^[a-z].*$/gm) ?? []
  t.same(await samples(), [])
  gauge = [[{}, -3]]
  labelled = [[{ kind: 'logs' }, 2]]
  for (let scrape = 0; scrape < 2; scrape++) {
    t.same(await samples(), ['gauge -3', 'labelled{kind="logs"} 2', 'counter{kind="logs"} 2'])
  }
  gauge = labelled = []
  t.same(await samples(), [])
})
