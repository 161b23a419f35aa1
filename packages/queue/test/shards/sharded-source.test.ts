import t from 'tap'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createShardedSource, type ClaimedJob, type JobSource } from '../../src/consume.ts'

/** Creates a shard with this many jobs. Their ids are `<n>-<shard>`, with `n` from 1000. */
function createShard(shard: number, jobs: number) {
  const waiting = Array.from({ length: jobs }, (_, n) => `${1_000 + n}-${shard}`)
  const completed: string[] = []
  let postponed = 0
  /** Every command first waits for this promise. */
  let answers = Promise.resolve()
  const take = (): ClaimedJob | undefined => {
    const id = waiting.shift()
    return id === undefined ? undefined : { id, data: undefined, attempts: 1 }
  }
  const source: JobSource = {
    peek: () => answers.then(() => ({ count: waiting.length, oldest: waiting[0] })),
    hasPostponed: () => answers.then(() => postponed > 0),
    claim: () => answers.then(take),
    complete: (job, { claimNext }) =>
      answers.then(() => {
        completed.push(job.id)
        return claimNext ? take() : undefined
      }),
    postpone: () => answers.then(() => void postponed++),
    release: (job) => answers.then(() => void waiting.unshift(job.id)),
    renew: (held) => answers.then(() => held.map(({ id }) => id)),
    close: () => Promise.resolve(),
  }
  return {
    source,
    waiting,
    completed,
    /** Commands get no response until the returned function is called. */
    freeze() {
      let thaw = () => {}
      answers = new Promise((resolve) => (thaw = resolve))
      return thaw
    },
    add: (n: number) =>
      void waiting.push(...Array.from({ length: n }, (_, i) => `${2_000 + i}-${shard}`)),
    refuse: () => void (answers = Promise.reject(new Error('refused'))),
  }
}

async function open(counts: readonly number[]) {
  const clock = createTestClock()
  const errors: Error[] = []
  const shards = counts.map((jobs, shard) => createShard(shard, jobs))
  const source = createShardedSource({
    open: (shard) => shards[shard]!.source,
    list: () => Promise.resolve([...shards.keys()]),
    onError: (error) => errors.push(error),
    clock,
  })
  t.teardown(() => source.close())
  await clock.advance(0)
  return { clock, errors, shards, source }
}

async function claim(source: JobSource, count: number): Promise<ClaimedJob[]> {
  const claims = Array.from({ length: count }, () => source.claim())
  const jobs = await Promise.allSettled(claims)
  return jobs.flatMap((job) => (job.status === 'fulfilled' && job.value ? [job.value] : []))
}

const perShard = (jobs: readonly ClaimedJob[], shards: number) =>
  Array.from(
    { length: shards },
    (_, shard) => jobs.filter(({ id }) => id.endsWith(`-${shard}`)).length,
  )

t.test('several shards look like one queue', async (t) => {
  const { source, shards } = await open([3, 2])
  t.same(await source.peek(), { count: 5, oldest: '1000-0' })
  const jobs = await claim(source, 16)
  t.same(perShard(jobs, 2), [3, 2])
  t.same(
    await source.renew(jobs),
    jobs.map(({ id }) => id).toSorted((a, b) => a.slice(-1).localeCompare(b.slice(-1))),
  )
  for (const job of jobs) await source.complete(job, { claimNext: false })
  t.same(
    shards.map(({ completed }) => completed.length),
    [3, 2],
  )
  t.same(await source.peek(), { count: 0, oldest: undefined })
})

t.test('a shard that is listed while the source closes is not opened', async (t) => {
  const opened: number[] = []
  let list: (shards: number[]) => void = () => {}
  const source = createShardedSource({
    open(shard) {
      opened.push(shard)
      return createShard(shard, 0).source
    },
    list: () => new Promise((resolve) => (list = resolve)),
    onError: () => {},
    clock: createTestClock(),
  })
  await source.close()
  list([0, 1])
  await new Promise(setImmediate)
  t.same(opened, [0])
})

t.test('a queue has postponed jobs if one of its shards has', async (t) => {
  const { source } = await open([0, 1])
  t.equal(await source.hasPostponed(), false)
  const [job] = await claim(source, 1)
  await source.postpone(job!, 1_000)
  t.equal(await source.hasPostponed(), true)
})

t.test('shards with a backlog are served equally, by claims and by completions', async (t) => {
  const { source } = await open([1_000, 1_000, 1_000])
  let batch = await claim(source, 48)
  t.same(perShard(batch, 3), [16, 16, 16])
  for (let n = 0; n < 5; n++) {
    const next = await Promise.all(batch.map((job) => source.complete(job, { claimNext: true })))
    batch = next.filter((job) => job !== undefined)
    t.same(perShard(batch, 3), [16, 16, 16])
  }
})

t.test('a full shard does not starve one that gets frames later', async (t) => {
  const { source, shards, clock } = await open([10_000, 0])
  let batch = await claim(source, 64)
  t.same(perShard(batch, 2), [64, 0])
  const completeAll = async () => {
    const next = await Promise.all(batch.map((job) => source.complete(job, { claimNext: true })))
    batch = next.filter((job) => job !== undefined)
  }
  // Completes many batches, so that the shard without frames has been served far less often than
  // the other shard.
  for (let n = 0; n < 20; n++) await completeAll()
  shards[1]!.add(1_000)
  await clock.advance(251)
  const seen = []
  for (let n = 0; n < 4; n++) {
    await completeAll()
    seen.push(perShard(batch, 2))
  }
  const ofShard1 = seen.map(([, one]) => one!)
  t.ok(ofShard1.at(-1)! >= 16, `shard 1 is served: ${ofShard1.join()}`)
  t.ok(
    seen.every(([zero]) => zero! >= 16),
    'and does not starve the other',
  )
})

t.test('a silent shard delays no other, and its late job is handed out', async (t) => {
  const { source, shards, clock } = await open([5, 5])
  const thaw = shards[1]!.freeze()
  const claiming = claim(source, 4)
  await clock.advance(2_000)
  t.same(perShard(await claiming, 2), [4, 0])
  t.match(await source.peek(), { count: 1, oldest: '1004-0' })
  t.same(perShard(await claim(source, 4), 2), [1, 0], 'without waiting for it again')
  thaw()
  await clock.advance(251)
  t.match(await source.peek(), { count: 5, oldest: '1000-1' })
  t.same(
    perShard(await claim(source, 16), 2),
    [0, 5],
    'all of them, those claimed before among them',
  )
})

t.test('a shard that refuses commands is reported and asked again', async (t) => {
  const { source, shards, errors, clock } = await open([2, 2])
  shards[0]!.refuse()
  t.match(await source.peek(), { count: 2, oldest: '1000-1' })
  t.same(perShard(await claim(source, 4), 2), [0, 2])
  t.ok(errors.length > 0)
  t.ok(errors.every(({ message }) => message === 'refused'))
  await t.rejects(source.claim(), { message: 'refused' }, 'no shard has another job')
  shards[0]!.freeze()()
  await clock.advance(251)
  t.same(perShard(await claim(source, 4), 2), [2, 0])
  t.equal(await source.claim(), undefined, 'the refusal is over')
})

t.test('a job that was claimed for a completion that failed is handed out later', async (t) => {
  const { source, shards, clock } = await open([100, 0])
  const batch = await claim(source, 32)
  shards[1]!.add(3)
  await clock.advance(251)
  shards[0]!.source.complete = () => Promise.reject(new Error('refused'))
  const failed = await Promise.allSettled(
    batch.map((job) => source.complete(job, { claimNext: true })),
  )
  t.ok(failed.every(({ status }) => status === 'rejected'))
  await clock.advance(251)
  t.equal(perShard(await claim(source, 16), 2)[1], 3)
})

t.test('a shard that renews no locks does not hide the lost locks of others', async (t) => {
  const { source, shards, clock, errors } = await open([1, 1])
  const jobs = await claim(source, 2)
  shards[1]!.refuse()
  t.same(await source.renew(jobs), ['1000-0'])
  t.match(errors, [{ message: 'refused' }])
  shards[1]!.freeze()
  const renewal = source.renew(jobs)
  await clock.advance(2_000)
  t.same(await renewal, ['1000-0'])
  t.match(errors, [{ message: 'refused' }, { name: 'TimeoutError' }])
  shards[0]!.refuse()
  shards[1]!.refuse()
  await t.rejects(source.renew(jobs), { message: 'refused' }, 'no lock is renewed')
})
