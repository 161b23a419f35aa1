import t from 'tap'
import { timeScale } from '../time-scale.ts'

const round = (gateway: number) => ({
  cpuPerEvent: { gateway, redis: 1, worker: 1, clickhouse: 1, load: 1, other: 1 },
})

t.test('a limit of time grows with what `bare` takes, against 25 µs', (t) => {
  t.equal(timeScale([round(300), round(50), round(100)]), 4)
  t.equal(timeScale([round(20)]), 0.8, 'a faster machine has less time')
  t.end()
})
