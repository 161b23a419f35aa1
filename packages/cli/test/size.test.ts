import t from 'tap'
import { rateAt, type Load } from '../src/size/load.ts'
import { planFor } from '../src/size/plan.ts'
import { simulateOutage } from '../src/size/simulate.ts'

const gigabyte = 1e9
const load: Load = {
  eventsPerDay: 86.4e6,
  feedbackPerDay: 0,
  eventBytes: 1_300,
  batch: 1,
  imageBytes: 600_000,
  peak: 1,
  outageHours: 6,
  retentionDays: 90,
  reservations: false,
}
const billion = { ...load, eventsPerDay: 1e9, batch: 100, peak: 2 }

const near = (value: number, wanted: number) => Math.abs(value / wanted - 1) < 0.02

t.test('the examples of docs/operations/capacity.md have the same results', async (t) => {
  const plan = planFor(load)
  t.ok(near(plan.redisMemoryBytes, 19.5 * gigabyte), 'Redis, single events')
  t.ok(near(planFor({ ...load, batch: 100 }).redisMemoryBytes, 4.1 * gigabyte), 'in batches')
  t.ok(near(plan.clickhouseDiskBytes, 10.2 * (121 + 31) * gigabyte), 'ClickHouse')
  t.equal(planFor({ ...load, eventsPerDay: 864e6 }).gateways, 4)
  t.equal(planFor({ ...load, eventsPerDay: 864e6, batch: 100 }).gateways, 2)
})

t.test('reservations leave less of Redis to the queue', async (t) => {
  const [without, reserved] = [planFor(load), planFor({ ...load, reservations: true })]
  t.ok(near(reserved.redisMemoryBytes / without.redisMemoryBytes, 1.5))
})

t.test('the rate of a day has its mean and its peak', async (t) => {
  const minutes = Array.from({ length: 1_440 }, (_, minute) => rateAt(billion, minute / 60))
  t.ok(
    near(
      minutes.reduce((sum, rate) => sum + rate * 60, 0),
      1e9,
    ),
  )
  t.ok(near(Math.max(...minutes), (2 * 1e9) / 86_400))
})

t.test(
  'with the planned memory an outage fills Redis up to 75 % and refuses nothing',
  async (t) => {
    const course = simulateOutage(billion, planFor(billion))
    t.equal(course.refusesFrom, undefined)
    t.equal(course.refused, 0)
    t.ok(near(course.redisShareMax, 0.75))
    t.ok(course.drained! > 6 * 60)
  },
)

t.test(
  'with less memory it refuses from 75 % on and accepts at 65 %; no event is missing',
  async (t) => {
    const course = simulateOutage(billion, planFor(billion), { redisMemoryBytes: 32 * 1024 ** 3 })
    const at = (minute: number) => course.moments.find((moment) => moment.minute === minute)!
    const { refusesFrom, acceptsAgain, drained } = course
    t.ok(at(refusesFrom!).redisShare >= 0.75 && at(refusesFrom! - 1).redisShare <= 0.75)
    t.equal(at(refusesFrom!).acceptedPerSecond, 0)
    t.ok(at(acceptsAgain!).redisShare <= 0.65 && at(acceptsAgain! - 1).redisShare > 0.65)
    t.ok(acceptsAgain! > 6 * 60 && drained! > acceptsAgain!)
    let [arrived, stored] = [0, 0]
    for (const moment of course.moments.slice(0, -1)) {
      arrived += moment.arrivingPerSecond * 60
      stored += moment.storedPerSecond * 60
    }
    t.ok(Math.abs(arrived - stored - course.refused) < 100)
  },
)

t.test('a backlog that arrives faster than it is stored is never gone', async (t) => {
  const slow = { ...planFor(load), storedPerSecond: 900 }
  const course = simulateOutage(load, slow, { redisMemoryBytes: 1e15 })
  t.equal(course.drained, undefined)
})
