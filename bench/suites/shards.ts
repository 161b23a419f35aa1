import { setTimeout as pause } from 'node:timers/promises'
import { readShards, shardPrefix } from '@intake/queue'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import type { Demand } from '../load/main.ts'
import { measureRound, type Round } from '../measure.ts'
import { number, range, ratioRange } from '../report/format.ts'
import type { SuiteResult, Table } from './suite.ts'

const shardCounts = [1, 2, 4] as const
const registrationMs = 20_000
const parts = ['gateway', 'redis', 'worker'] as const

type Measured = Round & { shards: number; rowsPerInsert: number; rowsPerFrame: number }

/** What shards of the log queue cost the gateway, a single Redis and the worker. */
export async function shards(bench: Bench): Promise<SuiteResult> {
  const { options } = bench
  const rounds = await bench.rounds.measure(
    { items: shardCounts, turns: options.rounds },
    async (count) => {
      const round = await measure(bench, count)
      const { gateway, redis, worker } = round.cpuPerEvent
      bench.say(
        `shards: ${count}: gateway ${gateway.toFixed(1)}, Redis ${redis.toFixed(1)}, worker ${worker.toFixed(1)} µs`,
      )
      return round
    },
  )
  return {
    name: 'shards',
    title: 'Shards of the log queue',
    method: `Logs of ${defaultBodySize} B over 64 connections, one gateway, one worker and one Redis, gateway and worker started
anew for each round with \`QUEUE_SHARDS\` 1, 2 and 4; rounds interleaved (ABBA). All shards are in one Redis: this is
what shards cost, not what several masters gain.`,
    tables: [table(rounds)],
    checks: [],
    plots: [],
    raw: rounds,
  }
}

async function measure(bench: Bench, count: number): Promise<Measured> {
  const { services, owner } = bench
  // Workers serve every shard that was ever used; those of the round before are empty.
  await services.keys.del(`${shardPrefix(0)}:shards`)
  const variant = await bench.start('intake', { env: { QUEUE_SHARDS: String(count) } })
  try {
    const deadline = performance.now() + registrationMs
    while ((await readShards(services.keys)).length < count) {
      if (performance.now() > deadline) throw new Error('the gateway has not registered its shards')
      await pause(100, undefined, { signal: owner.signal })
    }
    await measureRound(bench, variant, demand(bench.options.warmUpSeconds))
    const before = await countersOf(variant.workers[0]!.adminUrl(), variant.gateways[0]!.adminUrl())
    const round = await measureRound(bench, variant, demand(bench.options.seconds))
    const after = await countersOf(variant.workers[0]!.adminUrl(), variant.gateways[0]!.adminUrl())
    return {
      ...round,
      shards: count,
      rowsPerInsert: round.events / (after.inserts - before.inserts),
      rowsPerFrame: round.events / (after.frames - before.frames),
    }
  } finally {
    await variant.stop()
  }
}

async function countersOf(
  worker: string,
  gateway: string,
): Promise<{ inserts: number; frames: number }> {
  return {
    inserts: await readCounter(worker, 'intake_inserts_total{kind="logs"}'),
    frames: await readCounter(gateway, 'intake_frame_rows_count{kind="logs"}'),
  }
}

async function readCounter(url: string, series: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })
  const line = (await response.text()).split('\n').find((one) => one.startsWith(`${series} `))
  if (line === undefined) throw new Error(`${url} has no ${series}`)
  return Number(line.slice(series.length))
}

const demand = (seconds: number): Demand => ({
  loop: 'closed',
  connections: 64,
  seconds,
  requests: { kind: 'log', size: defaultBodySize },
})

function table(rounds: readonly Measured[]): Table {
  const of = (count: number, pick: (round: Measured) => number) =>
    rounds.filter((round) => round.shards === count).map(pick)
  return {
    title: 'Microseconds of CPU per event',
    head: [
      'shards',
      'accepted/s',
      ...parts.flatMap((part) => [part, '÷ 1 shard']),
      'rows per frame',
      'rows per insert',
    ],
    rows: shardCounts.map((count) => [
      number(count),
      range(
        of(count, (round) => round.acceptedPerSecond),
        0,
      ),
      ...parts.flatMap((part) => {
        const costs = of(count, (round) => round.cpuPerEvent[part])
        const one = of(1, (round) => round.cpuPerEvent[part])
        return [
          range(costs, 1),
          ratioRange(costs.map((cost, turn) => cost / (one[turn] as number))),
        ]
      }),
      range(
        of(count, (round) => round.rowsPerFrame),
        0,
      ),
      range(
        of(count, (round) => round.rowsPerInsert),
        0,
      ),
    ]),
    note: 'Median, in brackets the smallest and largest of the rounds; ratios within each turn.',
  }
}
