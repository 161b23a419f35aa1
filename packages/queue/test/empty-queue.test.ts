import t, { type Test } from 'tap'
import { createFrame } from '@intake/queue'
import { createFrameConsumer, type ClaimedJob, type JobSource } from '@intake/queue/consume'
import { pause } from '@intake/runtime'
import { createTestClock } from '@intake/test-kit/test-clock'

const limits = { framesMax: 256, compressedBytesMax: 2 ** 25, jsonBytesMax: 2 ** 26 }
const data = () =>
  createFrame({ rows: 1, jsonBytes: 3, coding: 'gzip' as const, bytes: Buffer.from('any') })

/**
 * Creates a consumer of a queue; the queue counts calls of `peek` and `claim`.
 *
 * @param options.arriving how many jobs are added while the first claim runs
 * @param options.isSilent whether `peek` gets no response after the first claim
 * @param options.hasPostponed whether the queue has a postponed job, which no claim gets
 * @param options.claimMs how long each claim takes; during each, one more job arrives
 * @param options.firstClaimMs the same for the first claim only
 */
function build(
  t: Test,
  {
    arriving = 0,
    isSilent = false,
    hasPostponed = false,
    claimMs = 0,
    firstClaimMs = 0,
    completeMs = 0,
  } = {},
) {
  const errors: string[] = []
  const clock = createTestClock()
  const waiting: ClaimedJob[] = []
  const asked = { peek: 0, claim: 0 }
  const source: JobSource = {
    async peek() {
      asked.peek++
      if (isSilent && asked.claim > 0) return new Promise<never>(() => {})
      return { count: waiting.length, oldest: waiting[0]?.id }
    },
    hasPostponed: async () => hasPostponed,
    async claim() {
      if (asked.claim++ === 0) add(arriving)
      if (asked.claim === 1 && firstClaimMs > 0) {
        const job = waiting.shift()
        await pause(firstClaimMs, { clock })
        return job
      }
      if (claimMs > 0) {
        await pause(claimMs, { clock })
        add(1)
      }
      return waiting.shift()
    },
    async complete(_job, { claimNext }) {
      const next = claimNext ? waiting.shift() : undefined
      if (completeMs > 0) await pause(completeMs, { clock })
      return next
    },
    postpone: async () => {},
    release: async () => {},
    renew: async () => [],
    close: async () => {},
  }
  const consumer = createFrameConsumer({
    source,
    onError: (error) => errors.push(error.message),
    onUnreadable: (error) => t.fail(error),
    onLocksLost: () => t.fail('no locks are lost'),
    clock,
  })
  t.teardown(() => consumer.close())
  function add(count: number): void {
    for (let n = 0; n < count; n++) waiting.push({ id: `job-${n}`, data: data(), attempts: 1 })
  }
  /** Closes the consumer, which then hands out nothing. */
  async function endsWithout(taken: ReturnType<typeof consumer.take>): Promise<void> {
    consumer.close()
    await clock.runAll()
    t.equal(await taken, undefined)
  }
  return { clock, asked, consumer, add, errors, endsWithout }
}

t.test('an empty queue is read once a second, and nothing is claimed', async (t) => {
  const { clock, asked, consumer, endsWithout } = build(t)
  const taken = consumer.take(limits)
  await clock.advance(20_000)
  const { peek } = asked
  await clock.advance(60_000)
  t.equal(asked.peek - peek, 60)
  t.equal(asked.claim, 0)
  await endsWithout(taken)
})

t.test('a queue with a postponed job is claimed from every five seconds', async (t) => {
  const { clock, asked, consumer, endsWithout } = build(t, { hasPostponed: true })
  const taken = consumer.take(limits)
  await clock.advance(20_000)
  const before = { ...asked }
  await clock.advance(60_000)
  const peeks = asked.peek - before.peek
  t.ok(peeks >= 50 && peeks <= 75, `${peeks} looks in a minute`)
  const claims = asked.claim - before.claim
  t.ok(claims >= 9 && claims <= 13, `${claims} claims in a minute`)
  await endsWithout(taken)
})

t.test('an empty queue is read at whole seconds, together with other polls', async (t) => {
  const { clock, consumer, endsWithout } = build(t)
  const taken = consumer.take(limits)
  await clock.advance(20_300)
  t.strictSame(clock.pending(), [700])
  await endsWithout(taken)
})

t.test('a frame that ends a long silence is taken within a second and a half', async (t) => {
  const { clock, consumer, add } = build(t)
  const taken = consumer.take(limits)
  await clock.advance(60_300)
  add(1)
  let frames = 0
  void taken.then((batch) => (frames = batch?.frames.length ?? 0))
  await clock.advance(1_500)
  t.equal(frames, 1)
})

t.test('only the frames that wait are claimed, with those that arrive meanwhile', async (t) => {
  const { clock, asked, consumer, add } = build(t, { arriving: 2 })
  add(1)
  const taken = consumer.take(limits)
  await clock.advance(1_000)
  t.equal((await taken)?.frames.length, 3)
  t.equal(asked.claim, 3)
})

t.test('frames in hand are a batch when Redis falls silent', async (t) => {
  const { clock, consumer, add, errors } = build(t, { isSilent: true })
  add(1)
  const taken = consumer.take(limits)
  await clock.advance(2_000)
  t.equal((await taken)?.frames.length, 1)
  t.match(errors.join(), /a look at a queue/)
})

t.test('frames in hand do not wait for a trickle of others', async (t) => {
  const { clock, consumer, add, errors } = build(t, { claimMs: 50 })
  add(1)
  const taken = consumer.take(limits)
  await clock.advance(1_500)
  const frames = (await taken)?.frames.length ?? 0
  t.ok(frames >= 2 && frames <= 10, `${frames} frames`)
  t.same(errors, [])
})

t.test('a claim with a late response delays a batch by 10 s, and is not lost', async (t) => {
  const { clock, consumer, add, errors } = build(t, { firstClaimMs: 12_000 })
  add(2)
  const first = consumer.take(limits)
  await clock.advance(11_000)
  const batch = await first
  t.equal(batch?.frames.length, 1, 'the response in time')
  t.match(errors, [/a claim/])
  await batch?.complete()
  await clock.advance(2_000)
  const second = consumer.take(limits)
  await clock.advance(5_000)
  consumer.close()
  t.equal((await second)?.frames.length, 1, 'the late one, although no other frame waits')
  t.equal(await consumer.take(limits), undefined)
})

t.test('a frame that a completion with a late response has claimed is not lost', async (t) => {
  const { clock, consumer, add, errors } = build(t, { completeMs: 12_000 })
  add(2)
  const one = { ...limits, framesMax: 1 }
  const first = consumer.take(one)
  await clock.advance(1_000)
  const completed = (await first)?.complete()
  await clock.advance(11_000)
  await completed
  t.match(errors, [/a queue command/])
  const second = consumer.take(one)
  await clock.advance(5_000)
  consumer.close()
  t.equal((await second)?.frames.length, 1)
})
