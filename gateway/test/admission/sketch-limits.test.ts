import t from 'tap'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createDeviceLimits, createWindowSketch } from '../../src/admission/sketch-limits.ts'

const windowMs = 60_000
const device = (number: number) =>
  `6f9619ff-8b86-4d01-b42d-${number.toString(16).padStart(12, '0')}`
const mebibyte = 1024 * 1024

t.test('a sender has its share in each window, whatever the case of its letters', async (t) => {
  const clock = createTestClock()
  const sketch = createWindowSketch({ width: 1_024, clock })
  const take = (member: string, amount: number) =>
    sketch.take({ account: 'key', member }, amount, 10)
  t.equal(take(device(10), 6), true)
  t.equal(take(device(10).toUpperCase(), 6), true, 'the last one may go over')
  t.equal(take(device(10), 1), false)
  t.equal(take(device(11), 1), true)
  t.equal(sketch.take({ account: 'other', member: device(10) }, 1, 10), true)
  t.equal(sketch.msLeft(), windowMs)
  await clock.advance(windowMs)
  t.equal(take(device(10), 1), true)
})

t.test('a million devices of a key, and one at 1,000 times its share', async (t) => {
  const share = 600
  const clock = createTestClock()
  const before = process.memoryUsage()
  const limits = createDeviceLimits({ feedbackMax: 120, clock })
  const size = { kind: 'logs', records: 10, attachmentBytes: 0 } as const
  const take = (number: number) =>
    limits.take({ account: 'key_0123456789ab', member: device(number) }, size, share)
  const broken = 7_777_777
  const perOther = (share * 1_000) / size.records / 1_000_000
  let accepted = 0
  let debt = 0
  let refusedOthers = 0
  for (let number = 0; number < 1_000_000; number++) {
    if (!take(number)) refusedOthers++
    for (debt += perOther; debt >= 1; debt--) if (take(broken)) accepted++
  }
  for (let number = 0; number < 1_000_000; number++) if (!take(number)) refusedOthers++
  t.equal(refusedOthers, 0, 'no other device is refused')
  t.ok(accepted >= share / size.records / 2 && accepted <= share / size.records, `${accepted}`)
  const after = process.memoryUsage()
  const grown = after.arrayBuffers - before.arrayBuffers
  t.ok(grown <= 16 * mebibyte, `${grown} bytes more in buffers`)
})

t.test('feedback counts by its attachments, too', async (t) => {
  const limits = createDeviceLimits({ feedbackMax: 100, clock: createTestClock() })
  const send = (member: string, attachmentBytes: number) =>
    limits.take({ account: 'key', member }, { kind: 'feedback', records: 1, attachmentBytes }, 1)
  let forms = 0
  while (send('large', 40 * mebibyte)) forms++
  t.equal(forms, 3)
  let texts = 0
  while (send('text', 0)) texts++
  t.equal(texts, 100)
})
