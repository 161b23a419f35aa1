import t from 'tap'
import { createBacklogReader, queueNames, registerShard, shardPrefix } from '@intake/queue'
import { createJobSource, type ClaimedJob } from '@intake/queue/consume'
import { createJobSink } from '@intake/queue/produce'
import { claimInstallation } from '@intake/redis'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createCoverage } from '../simulation/coverage.ts'
import { createJobs } from '../simulation/jobs.ts'
import { createRandom } from '../simulation/random.ts'
import type { World } from '../simulation/world.ts'

const scripts = 20
const actionsPerScript = 60
const hourMs = 3_600_000
const lockPastTicks = 1_000

t.test('the simulated queue does what BullMQ does', async (t) => {
  const server = await ownRedis(t)
  const redis = openRedis(t, server)
  const readBacklogs = createBacklogReader({ redis })
  const readFrames = async () => {
    const { waiting, active, delayed } = (await readBacklogs())!.queues.logs
    return { waiting, active, delayed }
  }

  for (let seed = 1; seed <= scripts; seed++) {
    await redis.flushall()
    await claimInstallation(redis, 'test')
    const shard = seed % 2
    await registerShard(redis, shard)
    const key = (part: string) => `${shardPrefix(shard)}:${queueNames.logs}:${part}`
    const lockOf = ({ id }: ClaimedJob) => key(`${id}:lock`)
    // Real time passes between the actions, but locks must expire only by the last entry of
    // `actions`. So `persist`, after each action, keeps locks from expiring, and the next line
    // delays the check for stalled jobs.
    await redis.set(key('stalled-check'), 'done', 'PX', hourMs)
    const sink = createJobSink({ redis, kind: 'logs', shard })
    const onError = (error: Error) => t.fail(error)
    const source = createJobSource({ redis, kind: 'logs', shard, onError })
    const random = createRandom(seed)
    let now = 0
    const twin = createJobs({
      coverage: createCoverage(),
      scheduler: { now: () => now, note() {} },
    } as unknown as World)
    /** Claimed jobs that were not completed, released or postponed since. */
    const claimed: { job: ClaimedJob; token: string }[] = []
    const seen: unknown[] = []
    const expected: unknown[] = []
    const both = async (what: string, real: () => Promise<unknown>, simulated: () => unknown) => {
      seen.push([what, await real().catch(() => 'error')])
      expected.push([
        what,
        await Promise.resolve()
          .then(simulated)
          .catch(() => 'error'),
      ])
    }
    const takeOne = () => claimed.splice(random.below(claimed.length), 1)[0]!

    const actions: (() => Promise<void>)[] = [
      () => {
        // There are few ids, so that a job is sometimes added while a job with the same id is in
        // the queue.
        const id = `job-${random.below(30)}`
        return both(
          `add ${id}`,
          () => sink.add(id, id),
          () => twin.add(id, id),
        )
      },
      async () => {
        const token = `token-${seen.length}`
        const job = await source.claim()
        if (job !== undefined) claimed.push({ job, token })
        seen.push(['claim', job?.id, job?.data, job?.attempts])
        const simulated = twin.claim(token)
        expected.push(['claim', simulated?.id, simulated?.data, simulated?.deliveries])
      },
      async () => {
        if (claimed.length === 0) return
        const { job, token } = takeOne()
        const claimNext = random.chance(0.5)
        const next = `token-${seen.length}`
        await both(
          `complete ${job.id}`,
          async () => {
            const claimedNext = await source.complete(job, { claimNext })
            if (claimedNext !== undefined) claimed.push({ job: claimedNext, token: next })
            return [claimedNext?.id, claimedNext?.data, claimedNext?.attempts]
          },
          () => {
            twin.complete(job.id, token)
            const claimedNext = claimNext ? twin.claim(next) : undefined
            return [claimedNext?.id, claimedNext?.data, claimedNext?.deliveries]
          },
        )
      },
      async () => {
        if (claimed.length === 0) return
        const { job, token } = takeOne()
        await both(
          `release ${job.id}`,
          () => source.release(job),
          () => twin.release(job.id, token),
        )
      },
      async () => {
        if (claimed.length === 0) return
        const { job, token } = takeOne()
        await both(
          `postpone ${job.id}`,
          () => source.postpone(job, hourMs),
          () => twin.postpone(job.id, token, Infinity),
        )
      },
      async () => {
        await both(
          'renew',
          () => source.renew(claimed.map(({ job }) => job)),
          () => claimed.flatMap(({ job, token }) => twin.renew([job.id], token)),
        )
      },
      // Expires the locks of all claimed jobs, in one of five cases.
      async () => {
        if (random.chance(0.8)) return
        now += lockPastTicks
        for (const { job } of claimed) {
          await redis.del(lockOf(job))
        }
      },
    ]
    for (let action = 0; action < actionsPerScript; action++) {
      await random.pick([actions[0]!, actions[0]!, actions[1]!, actions[1]!, ...actions])()
      await Promise.all(claimed.map(({ job }) => redis.persist(lockOf(job))))
      await both(
        'peek',
        () => source.peek(),
        () => ({ count: twin.count('waiting'), oldest: twin.oldest() }),
      )
      await both(
        'postponed',
        () => source.hasPostponed(),
        () => twin.count('delayed') > 0,
      )
      await both('backlog', readFrames, () => ({
        waiting: twin.count('waiting'),
        active: twin.count('active'),
        delayed: twin.count('delayed'),
      }))
    }
    t.strictSame(seen, expected, `script ${seed}`)
    await sink.close()
    await source.close()
  }
})
