import t from 'tap'
import { metricsOf, Registry } from '@intake/runtime/process'
import { toOpenMetrics } from '../src/openmetrics.ts'

t.test('counters lose the suffix of their family, and the end is marked', async (t) => {
  const registry = new Registry()
  const { counter, histogram } = metricsOf(registry)
  counter('intake_things_total', 'Things. See intake_things_total of others.', ['kind']).inc(
    { kind: 'logs' },
    2,
  )
  histogram('intake_seconds', 'Seconds.', [], [1]).observe(2)
  t.same(toOpenMetrics(await registry.metrics()).split('\n'), [
    '# HELP intake_things Things. See intake_things_total of others.',
    '# TYPE intake_things counter',
    'intake_things_total{kind="logs"} 2',
    '# HELP intake_seconds Seconds.',
    '# TYPE intake_seconds histogram',
    'intake_seconds_bucket{le="1"} 0',
    'intake_seconds_bucket{le="+Inf"} 1',
    'intake_seconds_sum 2',
    'intake_seconds_count 1',
    '# EOF',
    '',
  ])
})
