import t from 'tap'
import { correctedNow, eraOf, firstEra, observe, shiftFor } from '../src/core/clock.ts'
import { dayMs } from '../src/core/limits.ts'

const serverStart = Date.parse('2026-11-21T12:00:00.000Z')

/**
 * Creates a device whose clock is ahead by `ahead` milliseconds. The monotonic clock stops while
 * the device sleeps.
 */
function createDevice(ahead: number) {
  const device = { ahead, elapsed: 0, asleep: 0 }
  const trueNow = () => serverStart + device.elapsed + device.asleep
  const time = { now: () => trueNow() + device.ahead, monotonic: () => device.elapsed }
  const clock = { ...time, era: firstEra(time) }
  const answer = () => observe(clock, trueNow(), 0)
  /**
   * Makes an id. The returned function corrects the time of the id when it is called, and returns
   * the remaining error in milliseconds.
   */
  const note = () => {
    const idTime = correctedNow(clock)
    const era = eraOf(clock)
    const madeAt = trueNow()
    return (isOfThisRun = true) => idTime + shiftFor(clock, era, isOfThisRun) - madeAt
  }
  return { device, clock, answer, note, trueNow }
}

for (const ahead of [3 * dayMs, -3 * dayMs, 120_000, -3_600_000]) {
  t.test(`a clock ${ahead / 1000} seconds ahead is corrected by the first answer`, (t) => {
    const { answer, note, clock, trueNow } = createDevice(ahead)
    const early = note()
    t.equal(early(), ahead, 'nothing is known yet')
    answer()
    t.equal(early(), 0)
    t.equal(early(false), 0, 'also if an earlier run made it')
    t.equal(correctedNow(clock), trueNow())
    t.equal(note()(), 0)
    t.end()
  })

  t.test(`a clock ${ahead / 1000} seconds ahead that is set right while the app runs`, (t) => {
    const { device, answer, note, clock, trueNow } = createDevice(ahead)
    const early = note()
    device.elapsed += 10_000
    device.ahead = 0
    const late = note()
    answer()
    t.equal(late(), 0)
    // If a clock is set ahead by less than a day, nothing is corrected, because the jump looks like
    // a sleep of the device.
    if (ahead > 0 || ahead < -dayMs) t.equal(early(), 0)
    device.elapsed += 1000
    device.ahead = ahead
    // A jump ahead by two minutes looks like a sleep, so only the next response corrects it.
    t.equal(note()(), ahead === 120_000 ? ahead : 0)
    answer()
    t.equal(correctedNow(clock), trueNow(), 'and wrong again')
    t.end()
  })
}

t.test('a right clock is never touched, not even after a sleep', (t) => {
  const { device, answer, note, clock, trueNow } = createDevice(0)
  const early = note()
  device.asleep += 8 * 3_600_000
  const late = note()
  answer()
  t.same([early(), late()], [0, 0])
  device.asleep += 8 * 3_600_000
  t.equal(correctedNow(clock), trueNow())
  t.end()
})

t.test('a difference of less than a minute is left', (t) => {
  const { answer, note } = createDevice(50_000)
  const early = note()
  answer()
  t.equal(early(), 50_000)
  t.equal(note()(), 50_000)
  t.end()
})

t.test('ids that were made with a known offset are never changed', (t) => {
  const { device, answer, note } = createDevice(3 * dayMs)
  answer()
  const good = note()
  device.ahead = -10 * dayMs
  answer()
  t.equal(good(), 0)
  t.end()
})
