import type { ClickHouse } from './clickhouse.ts'
import type { ObjectStore } from './object-store.ts'
import type { Redis } from './redis.ts'
import { createProcess, type Part, type World } from './world.ts'

export interface Faults {
  /** May cause a random fault, at the rate of this simulation run. The fault ends after a while. */
  strike(): void
}

/** Durations of an outage. The longest exceeds the timeout of a client's request. */
const downTicks = [10, 60, 250] as const
const fullTicks = 60
/**
 * Durations of a freeze. The longest is much longer than a lock lasts, and much longer than a
 * record may take to be stored.
 */
const frozenTicks = [20, 100, 500] as const

/**
 * The faults of one run. Each run has its own rate of faults and its own selection of kinds of
 * faults, so that rare combinations occur too.
 */
export function createFaults(options: {
  world: World
  gateways: readonly Part[]
  workers: readonly Part[]
  redis: Redis
  clickhouse: ClickHouse
  objects: ObjectStore
}): Faults {
  const { world, gateways, workers, redis, clickhouse, objects } = options
  const { random, scheduler, network, coverage } = world
  const fate = createProcess('fate')
  let isWaitingForInsert = false

  function kill(part: Part): void {
    if (part.process.state === 'down') return
    scheduler.note('fate', `kills ${part.process.name}`)
    end(part)
  }

  /** Like SIGTERM: the process ends when it has closed, unless it dies before. */
  async function stop(part: Part): Promise<void> {
    const { process } = part
    if (process.state !== 'running' || part.close === undefined) return
    scheduler.note('fate', `stops ${process.name}`)
    const { life } = process
    await part.close()
    if (process.life !== life) return
    coverage['processes that ended in order']++
    end(part)
  }

  function end(part: Part): void {
    const { process } = part
    process.state = 'down'
    process.life++
    part.crash?.()
    network.reset(process)
    const run = () => {
      process.state = 'running'
      part.start()
    }
    scheduler.plan({
      of: fate,
      what: `starts ${process.name}`,
      after: random.pick(downTicks),
      run,
    })
  }

  function freeze({ process }: Part): void {
    if (process.state !== 'running') return
    scheduler.note('fate', `freezes ${process.name}`)
    process.state = 'frozen'
    const { life } = process
    const run = () => {
      if (process.life === life) process.state = 'running'
    }
    scheduler.plan({
      of: fate,
      what: `thaws ${process.name}`,
      after: random.pick(frozenTicks),
      run,
    })
  }

  function fill(): void {
    scheduler.note('fate', 'fills redis')
    redis.setFull(true)
    const run = () => redis.setFull(false)
    scheduler.plan({ of: fate, what: 'makes room in redis', after: fullTicks, run })
  }

  function failInserts(): void {
    scheduler.note('fate', 'lets running inserts fail')
    clickhouse.failInserts()
  }

  /**
   * Makes ClickHouse fail between two parts of an insert. If no insert is at this point now,
   * `strike` makes ClickHouse fail as soon as an insert is.
   */
  function interruptInsert(): void {
    if (clickhouse.isHalfDone()) random.pick([() => kill(clickhouse), failInserts])()
    else isWaitingForInsert = true
  }

  const kinds = [
    ...[gateways, workers, [redis], [clickhouse], [objects]].flatMap((parts) => [
      () => kill(random.pick(parts)),
      () => freeze(random.pick(parts)),
    ]),
    () => void stop(random.pick(workers)),
    () => void scheduler.loseAnswer(),
    fill,
    failInserts,
    interruptInsert,
    interruptInsert,
  ]
  const selected = kinds.filter(() => random.chance(0.5))
  const rate = random.pick([0, 0.01, 0.03, 0.08])

  return {
    strike() {
      if (isWaitingForInsert && clickhouse.isHalfDone()) {
        isWaitingForInsert = false
        interruptInsert()
      }
      if (selected.length > 0 && random.chance(rate)) random.pick(selected)()
    },
  }
}
