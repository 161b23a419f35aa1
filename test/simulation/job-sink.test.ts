import t from 'tap'
import { createUuidV7 } from '@intake/contract'
import { realCode as code } from './code.ts'
import { createCoverage } from './coverage.ts'
import { createNetwork } from './network.ts'
import { createJobSink } from './ports/job-sink.ts'
import { createRandom } from './random.ts'
import { createRedis } from './redis.ts'
import { createScheduler } from './scheduler.ts'
import { createProcess, type World } from './world.ts'

t.test('the order of jobs of one millisecond does not depend on their random ids', async (t) => {
  const random = createRandom(1)
  const scheduler = createScheduler({ random })
  const network = createNetwork({ random, scheduler })
  let serial = 0
  const world: World = {
    code,
    random,
    scheduler,
    network,
    coverage: createCoverage(),
    serial: () => ++serial,
    wallMs: () => 0,
  }
  const redis = createRedis(world)
  const process = createProcess('gateway')
  const sink = createJobSink({ world, process, redis, kind: 'logs' })
  const jobs = redis.jobs('logs')
  for (let rows = 1; rows <= 10; rows++) {
    const added = sink.add(`${createUuidV7(1)}-${rows}-1`, { rows })
    while (jobs.count('waiting') < rows) await scheduler.step()
    while (scheduler.isBusy()) await scheduler.step()
    await added
  }
  const ids = jobs.ids('waiting')
  t.equal(ids.length, 10)
  t.same(ids.toSorted(), ids)
})
