import { kinds, type RecordKind } from '@intake/contract'
import { createClickHouse } from './clickhouse.ts'
import type { Code } from './code.ts'
import { startClients } from './clients.ts'
import { createCoverage, type Coverage } from './coverage.ts'
import { createFaults } from './faults.ts'
import { createGateway } from './gateway.ts'
import { createHistory } from './history.ts'
import { createNetwork } from './network.ts'
import { createObjectStore } from './object-store.ts'
import { createRandom } from './random.ts'
import { createRedis } from './redis.ts'
import { createScheduler } from './scheduler.ts'
import { tickMs } from './time.ts'
import { judge, type Violation } from './judge.ts'
import { createWorker } from './worker.ts'
import type { World } from './world.ts'

export interface Run {
  violations: Violation[]
  coverage: Coverage
  steps: number
}

const faultyStepsMax = 1_500
const stepsMax = 40_000
/** Every run begins shortly before a month ends. */
const monthEndMs = Date.UTC(2026, 11, 1)
const beginsBeforeMs = 40_000

/**
 * Runs the whole system once: clients send while parts fail; then the faults stop, the backlog
 * drains, and the visible rows are judged. The same seed gives the same run.
 *
 * @param options.trace receives one line for each event of the run
 */
export async function simulate(options: {
  seed: number
  code: Code
  trace?: (line: string) => void
}): Promise<Run> {
  const { seed, code, trace } = options
  const random = createRandom(seed)
  const scheduler = createScheduler({ random, trace })
  const network = createNetwork({ random, scheduler })
  const coverage = createCoverage()
  let serial = 0
  const beginsAtMs = monthEndMs - random.below(beginsBeforeMs)
  const world: World = {
    code,
    random,
    scheduler,
    network,
    coverage,
    serial: () => ++serial,
    wallMs: () => beginsAtMs + scheduler.now() * tickMs,
  }

  const redis = createRedis(world)
  const clickhouse = createClickHouse(world)
  const objects = createObjectStore()
  const gateways = ['gateway-a', 'gateway-b'].map((name) =>
    createGateway({ world, name, redis, objects, watermark: clickhouse.watermark }),
  )
  const workers = ['worker-a', 'worker-b'].map((name) =>
    createWorker({ world, name, redis, clickhouse }),
  )
  for (const part of [redis, clickhouse, objects, ...gateways, ...workers]) part.start()
  const history = createHistory()
  startClients({ world, gateways, history })
  const faults = createFaults({ world, gateways, workers, redis, clickhouse, objects })

  const isEmpty = (kind: RecordKind) =>
    (['waiting', 'active', 'delayed'] as const).every((state) =>
      redis.allJobs(kind).every((jobs) => jobs.count(state) === 0),
    )
  const isDrained = () => !scheduler.isBusy() && kinds.every(isEmpty)
  let steps = 0
  for (const end = random.below(faultyStepsMax); steps < end; steps++) {
    faults.strike()
    await scheduler.step()
  }
  scheduler.note('fate', 'rests')
  while (steps < stepsMax && !isDrained()) {
    await scheduler.step()
    steps++
  }

  const violations = judge({
    submissions: history.submissions(),
    visible: kinds.flatMap((kind) => clickhouse.tables[kind].visible()),
    objects,
    jobs: kinds.flatMap((kind) => redis.allJobs(kind)),
    early: clickhouse.watermark.early(),
  })
  for (const { rule, what } of violations) scheduler.note('violation', `${rule}: ${what}`)
  return { violations, coverage, steps }
}
