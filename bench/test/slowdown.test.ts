import t from 'tap'
import { slowdownOf } from '../slowdown.ts'
import { latencyChecks, type OpenRound } from '../suites/latency-tables.ts'

const bare = (gateway: number) => ({
  cpuPerEvent: { gateway, redis: 1, worker: 1, clickhouse: 1, load: 1, other: 1 },
})

t.test('a limit in units of time grows with the CPU of `bare`, relative to 25 µs', (t) => {
  t.equal(slowdownOf([bare(300), bare(50), bare(100)]), 4)
  t.equal(slowdownOf([bare(20)]), 0.8, 'a faster machine has less time')
  t.end()
})

t.test('in the limit on the percentile only the margin beyond `bare` grows', (t) => {
  const percentiles = (value: number) => ({
    count: 1,
    p50: value,
    p99: value,
    p999: value,
    max: value,
  })
  const round = (variant: string, p99: number) =>
    ({ level: 0.5, round: { variant, load: { latencyMs: percentiles(p99) } } }) as OpenRound
  const idle = { intake: percentiles(2), bare: percentiles(1), redis: percentiles(1) }
  const check = (p99: number) => latencyChecks([round('bare', 3), round('intake', p99)], idle, 2)[0]

  t.match(check(23), { measured: '23.0 ms', met: true })
  t.match(check(23.1), { met: false })
  t.match(check(20)?.limit, /23\.0 ms.*unscaled 13\.0/)
  t.end()
})
