import { queueNames, queuePrefix } from '@intake/queue'
import { backlogConnections, buffer, bufferBehindFrozenWorkers, drain } from '../backlog.ts'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import { insertDirectly } from '../direct-insert.ts'
import type { Demand } from '../load/main.ts'
import { measureRound } from '../measure.ts'
import { abbaOrder, measureEach } from '../rounds.ts'
import type { Variant } from '../variants.ts'
import {
  acceptedPerSecond,
  bufferTable,
  drainTable,
  outageChecks,
  type Saturated,
} from './outage-tables.ts'
import type { SuiteResult } from './suite.ts'

const requests = { kind: 'log', size: defaultBodySize } as const
/**
 * Enough events to saturate a worker: it then claims as many frames as it completes, until seven
 * tenths of the events are visible.
 */
const saturationEvents = 80_000

const method = `ClickHouse is killed, then events arrive over ${backlogConnections} connections as fast as they are accepted. Bytes
per event are the growth of Redis's \`used_memory\` and of its append-only file. Draining is measured in rounds
afterwards: the worker is frozen while ${saturationEvents} events arrive, and drains them when it is thawed. Saturation lasts from
the first row until seven tenths are visible. Direct inserts of 5,000 rows each and rounds of \`bare\` take turns.`

/** Measures the cost of an outage of ClickHouse, and how fast its backlog drains. */
export async function outage(bench: Bench): Promise<SuiteResult> {
  const events = bench.options.quick ? 40_000 : 200_000
  const { keys } = bench.services
  await keys.config('SET', 'auto-aof-rewrite-percentage', '0')

  const intake = await bench.start('intake')
  await measureRound(bench, intake, closedLoop(bench.options.seconds + 1))
  bench.say(`outage: ClickHouse is stopped, ${events} events arrive`)
  await bench.services.stopClickHouse()
  const buffered = await buffer(bench, intake, { events, requests })
  const frames = await framesInQueue(bench)
  bench.say(
    `outage: ${Math.round(buffered.memoryPerEvent)} B per event, ClickHouse is started again`,
  )
  await bench.services.startClickHouse()
  await drain(bench, intake, buffered.load)
  bench.say('outage: measuring the cost of draining')
  const saturated = await saturate(bench, intake)
  await intake.stop()

  await keys.config('SET', 'auto-aof-rewrite-percentage', '100')

  return {
    name: 'outage',
    title: 'Outage of ClickHouse',
    method,
    tables: [bufferTable(buffered, frames), drainTable(saturated)],
    checks: outageChecks(buffered, saturated),
  }
}

const closedLoop = (seconds: number): Demand => ({
  loop: 'closed',
  connections: backlogConnections,
  seconds,
  requests,
})

async function saturate(bench: Bench, intake: Variant): Promise<Saturated> {
  const bare = await bench.start('bare')
  await measureRound(bench, bare, closedLoop(bench.options.warmUpSeconds))
  const drainOnce = async () => {
    const buffered = await bufferBehindFrozenWorkers(bench, intake, {
      events: saturationEvents,
      requests,
    })
    const drained = await drain(bench, intake, buffered.load)
    bench.say(`outage: worker ${drained.saturatedWorkerCpu.toFixed(1)} µs per event`)
    return { ...drained, acceptedPerSecond: acceptedPerSecond(buffered) }
  }
  const saturated: Saturated = { drains: [], direct: [], bare: [] }
  const measures = [
    async () => saturated.drains.push(await drainOnce()),
    async () => saturated.direct.push(await insertDirectly(bench, intake, saturationEvents)),
    async () =>
      saturated.bare.push(await measureRound(bench, bare, closedLoop(bench.options.seconds))),
  ]
  const order = abbaOrder(measures, Math.max(1, bench.options.rounds - 1))
  await measureEach(order, (measure) => measure())
  await bare.stop()
  return saturated
}

async function framesInQueue({ services }: Bench): Promise<number> {
  const length = (list: string) => services.keys.llen(`${queuePrefix}:${queueNames.logs}:${list}`)
  return (await length('wait')) + (await length('active'))
}
