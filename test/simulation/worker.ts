import type { RecordKind } from '@intake/contract'
import { Registry, type Logger } from '@intake/runtime/process'
import { createWorkerMetrics } from '../../worker/src/watch/metrics.ts'
import type { ClickHouse } from './clickhouse.ts'
import type { JobSource } from '@intake/queue/consume'
import { skewMaxMs } from './gateway.ts'
import { createJobSource } from './ports/job-source.ts'
import { createReadBacklogs } from './ports/backlogs.ts'
import { createRowStore } from './ports/row-store.ts'
import { shards, type Redis } from './redis.ts'
import { createClock } from './time.ts'
import { createProcess, type Part, type World } from './world.ts'

/** The queue of outcomes. Nothing is added to it. */
const noJobs = { peek: () => new Promise(() => {}) } as unknown as JobSource

/** A worker that runs the real code from Redis to the tables. */
export function createWorker(options: {
  world: World
  name: string
  redis: Redis
  clickhouse: ClickHouse
}): Part {
  const { world, redis, clickhouse } = options
  const { code, scheduler, wallMs } = world
  const process = createProcess(options.name)
  const note = (_: unknown, message: string) => scheduler.note(process.name, message)
  let closeLife = (): Promise<void> => Promise.resolve()

  return {
    process,
    close: () => closeLife(),
    start() {
      const sourceOf = (kind: RecordKind, shard?: number) =>
        createJobSource({ world, process, redis, kind, shard })
      const clock = createClock({ world, process, isBackground: true })
      const logs = code.consume.createShardedSource({
        open: (shard) => sourceOf('logs', shard),
        list: () => Promise.resolve(shards),
        onError: (error) => note(undefined, error.message),
        clock,
      })
      const store = createRowStore({ world, process, clickhouse })
      const delivery = code.worker.startWorker({
        sources: { logs, feedback: sourceOf('feedback'), outcomes: noJobs },
        store,
        events: createWorkerMetrics(new Registry()),
        note() {},
        log: { info: note, warn: note, error: note } as unknown as Logger,
        onError: (error) => note(undefined, error.message),
        clock,
      })
      const advance = code.watermark.startWatermark({
        readBacklogs: createReadBacklogs({ world, process, redis }),
        store,
        clockSkewMaxMs: skewMaxMs,
        onError: (error) => note(undefined, (error as Error).message),
        clock,
        wallMs,
      })
      closeLife = () => {
        advance.close()
        return delivery.close()
      }
    },
  }
}
