import { setImmediate as immediate } from 'node:timers/promises'
import { DelayedError, Queue, type Job } from 'bullmq'
import t, { type Test } from 'tap'
import { connectRedis } from '@intake/redis'
import { startRedis } from '@intake/stack'
import { createDataDir } from '../../../test/support/data-dir.ts'
import { GatheringWorker, type Waiting } from '../src/gathering-worker.ts'

const redisServer = await startRedis({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => redisServer.stop())

/** A queue of its own with this many jobs in it, and a worker of which `look` is what it sees. */
async function build(
  t: Test,
  options: {
    jobs: number
    look: () => Waiting
    concurrency?: number
    process?: (job: Job<{ n: number }>, token?: string) => Promise<void>
  },
) {
  const { jobs, look, concurrency = 100, process = async () => {} } = options
  const connection = connectRedis({ url: redisServer.url, role: 'consumer', onError: () => {} })
  t.teardown(() => connection.disconnect())
  const queue = new Queue(t.name.replaceAll(' ', '-'), { connection })
  await queue.addBulk(Array.from({ length: jobs }, (_, n) => ({ name: 'job', data: { n } })))
  const worker = new GatheringWorker(queue.name, process, {
    connection,
    concurrency,
    look: async () => look(),
  })
  t.teardown(() => worker.close())
  return { queue, worker, client: connection }
}

/** Resolves when that many jobs have been completed from now on. */
async function completed(worker: GatheringWorker, count: number): Promise<void> {
  let done = 0
  await new Promise<void>((resolve) => {
    worker.on('completed', () => (++done === count ? resolve() : undefined))
  })
}

t.test('what was taken when it is closed goes back at once, in order', async (t) => {
  const look = () => ({ count: 10, oldest: '1' })
  const { queue, worker, client } = await build(t, { jobs: 10, look })
  await new Promise<void>((resolve) => {
    worker.once('active', () => void worker.close().then(resolve))
  })
  t.equal(await queue.getActiveCount(), 0)
  const next = await Promise.all(
    Array.from({ length: 10 }, async () => client.rpop(queue.toKey('wait'))),
  )
  t.same(
    next,
    Array.from({ length: 10 }, (_, n) => `${n + 1}`),
  )
})

t.test('takes at once as many as wait, and no more than it can hold', async (t) => {
  let most = 0
  let inHand = 0
  const look = () => ({ count: 60, oldest: '1' })
  const { queue, worker } = await build(t, {
    jobs: 60,
    look,
    concurrency: 7,
    async process() {
      most = Math.max(most, ++inHand, await queue.getActiveCount())
      inHand--
    },
  })
  await completed(worker, 60)
  t.equal(most, 7)
})

t.test('leaves the jobs while the oldest changes, and takes them when it stays', async (t) => {
  const seen: string[] = []
  const look = () => {
    const oldest = seen.length < 3 ? `taken by another ${seen.length}` : '1'
    seen.push(oldest)
    return { count: 2, oldest }
  }
  const { worker } = await build(t, { jobs: 2, look })
  await new Promise((resolve) => worker.once('completed', resolve))
  t.same(seen.slice(-2), ['1', '1'])
  t.equal(worker.left, 3)
})

t.test('what is taken is processed, whoever else was faster with the rest', async (t) => {
  let looks = 0
  const look = () =>
    ++looks <= 2 ? { count: 10, oldest: '1' } : { count: 3, oldest: `taken by another ${looks}` }
  const { worker } = await build(t, { jobs: 4, look })
  await completed(worker, 4)
  t.ok(looks <= 3, `${looks} looks`)
})

t.test('when all in hand settle together, what is taken next is processed', async (t) => {
  const held: (() => void)[] = []
  const look = () => ({
    count: 3,
    oldest: held.length < 4 ? '1' : `taken by another ${Math.random()}`,
  })
  const started: string[] = []
  const { worker, queue } = await build(t, {
    jobs: 7,
    look,
    concurrency: 4,
    process: () => new Promise<void>((resolve) => held.push(resolve)),
  })
  worker.on('active', ({ id }) => started.push(id ?? ''))
  while (held.length < 4) await immediate()
  for (const release of held) release()
  while (held.length < 7) await immediate()
  t.equal(started.length, 7)
  for (const release of held) release()
  while ((await queue.getActiveCount()) > 0) await immediate()
})

t.test('jobs that are put off do not make it take more than it can hold', async (t) => {
  let most = 0
  let putOff = 0
  const look = () => ({ count: 100, oldest: '1' })
  const { queue, worker } = await build(t, {
    jobs: 60,
    look,
    concurrency: 8,
    async process(job, token) {
      most = Math.max(most, await queue.getActiveCount())
      if (job.data.n >= 8) return
      putOff++
      await job.moveToDelayed(Date.now() + 3_600_000, token)
      throw new DelayedError()
    },
  })
  await completed(worker, 52)
  t.equal(putOff, 8)
  t.equal(most, 8)
})
