import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { defaultBodySize } from '../corpus.ts'
import { measureRound, type Round } from '../measure.ts'
import { number, range } from '../report/format.ts'
import { latencyBars } from '../report/plots.ts'
import { abbaOrder, measureUndisturbed } from '../rounds.ts'
import { median, percentilesOf, type Percentiles } from '../statistics.ts'
import type { Variant } from '../variants.ts'
import { measureVisibility } from '../visibility.ts'
import type { Check, SuiteResult } from './suite.ts'

const requests = { kind: 'log', size: defaultBodySize } as const
const capacityConnections = 64
const openConnections = 256
const levels = [0.25, 0.5, 0.75] as const
/** Percentiles need more events than costs. */
const openExtraSeconds = 1.5
const idleRequests = 200
const idlePauseMs = 20

const method = `Open loop: requests become due at random moments (Poisson) and their latency counts from
then, so waiting behind a stalled answer is charged, and so is a late generator (its clock ticks once
a millisecond). The rates are shares of what Intake took in a closed loop at the start of this suite;
\`bare\` gets the same rates. Latencies are exact, not from histogram buckets. The worker and
ClickHouse work meanwhile, on the same cores.`

interface OpenRound {
  level: number
  round: Round
}

/** Latency of the acknowledgement under load and idle, and from there to visibility. */
export async function latency(bench: Bench): Promise<SuiteResult> {
  const { options } = bench
  const variants = [await bench.start('intake'), await bench.start('bare')] as const
  const [intake, bare] = variants
  const closed = (variant: Variant, seconds: number) =>
    measureRound(bench, variant, {
      loop: 'closed',
      connections: capacityConnections,
      seconds,
      requests,
    })
  await closed(bare, options.seconds + 1)
  await closed(intake, options.seconds + 1)
  const capacity = (await closed(intake, options.seconds)).acceptedPerSecond
  bench.say(`latency: capacity ${Math.round(capacity)}/s`)

  const idle = {
    intake: await measureIdle(bench, intake),
    bare: await measureIdle(bench, bare),
    redis: await measureRedisWrite(bench),
  }
  const open = (variant: Variant, level: number) =>
    measureRound(bench, variant, {
      loop: 'open',
      rate: capacity * level,
      connections: openConnections,
      seconds: options.seconds + openExtraSeconds,
      requests,
    })
  const rounds: OpenRound[] = []
  for (const level of levels) {
    for (const variant of abbaOrder(variants, Math.max(2, Math.floor(options.rounds / 2)))) {
      const round = await measureUndisturbed(() => open(variant, level), {
        foreignShareMax: options.foreignShareMax,
        log: bench.rounds,
      })
      bench.say(
        `latency: ${variant.name} at ${level * 100} %: p99 ${round.load.latencyMs.p99.toFixed(1)} ms`,
      )
      rounds.push({ level, round })
    }
  }
  const visible = await measureVisibility(bench, intake, {
    loop: 'open',
    rate: capacity / 2,
    connections: openConnections,
    seconds: options.seconds + openExtraSeconds,
    requests,
  })
  for (const variant of variants) await variant.stop()

  return {
    name: 'latency',
    title: 'Latency',
    method,
    tables: [ackTable(rounds, capacity), idleTable(idle), visibleTable(visible)],
    checks: checks(rounds, idle),
    plots: [
      {
        name: 'latency',
        title: 'Acknowledgement latency by load',
        svg: latencyBars(
          levels.map((level) => ({
            label: `${level * 100} %`,
            intake: at(rounds, 'intake', level),
            bare: at(rounds, 'bare', level),
          })),
        ),
      },
    ],
    raw: { capacity, rounds, idle, visible },
  }
}

/** Requests one after the other with a pause between, so that each finds everything at rest. */
async function measureIdle(bench: Bench, variant: Variant): Promise<Percentiles> {
  const { load } = await measureRound(bench, variant, {
    loop: 'closed',
    connections: 1,
    seconds: 60,
    requestsMax: idleRequests,
    pauseMs: idlePauseMs,
    requests,
  })
  return load.latencyMs
}

/** A single write of Redis, synced to disk: the least that a durable acknowledgement has to wait. */
async function measureRedisWrite({ services }: Bench): Promise<Percentiles> {
  const times: number[] = []
  for (let write = 0; write < idleRequests; write++) {
    const sent = performance.now()
    await services.keys.set('bench:write', 'x'.repeat(defaultBodySize))
    times.push(performance.now() - sent)
    await pause(idlePauseMs)
  }
  await services.keys.del('bench:write')
  return percentilesOf(times)
}

type Point = 'p50' | 'p99' | 'p999'
const points: Point[] = ['p50', 'p99', 'p999']

const values = (rounds: OpenRound[], variant: string, level: number, point: Point) =>
  rounds
    .filter((one) => one.level === level && one.round.variant === variant)
    .map(({ round }) => round.load.latencyMs[point])

/** Median of the rounds, in milliseconds. */
function at(rounds: OpenRound[], variant: string, level: number): Record<Point, number> {
  const of = (point: Point) => median(values(rounds, variant, level, point))
  return { p50: of('p50'), p99: of('p99'), p999: of('p999') }
}

function ackTable(rounds: OpenRound[], capacity: number) {
  return {
    title: 'Acknowledgement, milliseconds',
    head: ['load', 'variant', 'p50', 'p99', 'p99.9'],
    rows: levels.flatMap((level) =>
      ['intake', 'bare'].map((variant) => [
        `${level * 100} % (${number(capacity * level)}/s)`,
        variant,
        ...points.map((point) => range(values(rounds, variant, level, point), 1)),
      ]),
    ),
    note: 'Median, and in brackets the smallest and the largest of the rounds.',
  }
}

function idleTable(idle: Record<'intake' | 'bare' | 'redis', Percentiles>) {
  const row = (name: string, { p50, p99 }: Percentiles) => [name, number(p50, 2), number(p99, 2)]
  return {
    title: `Idle: single requests, ${idlePauseMs} ms apart, milliseconds`,
    head: ['what', 'p50', 'p99'],
    rows: [
      row('intake', idle.intake),
      row('bare', idle.bare),
      row('one Redis SET, synced to disk', idle.redis),
    ],
  }
}

function visibleTable(visible: Percentiles) {
  return {
    title: 'From the acknowledgement until visible, at half capacity, milliseconds',
    head: ['events', 'p50', 'p99', 'largest'],
    rows: [[number(visible.count), number(visible.p50), number(visible.p99), number(visible.max)]],
    note: 'The n-th acknowledgement against the moment when n rows could be read.',
  }
}

const p99MarginMs = 10
const timerMarginMs = 2

function checks(
  rounds: OpenRound[],
  idle: Record<'intake' | 'bare' | 'redis', Percentiles>,
): Check[] {
  const ours = at(rounds, 'intake', 0.5).p99
  const limit = at(rounds, 'bare', 0.5).p99 + p99MarginMs
  const idleLimit = idle.bare.p50 + idle.redis.p50 + timerMarginMs
  return [
    {
      item: '5',
      what: 'Ack p99 at half capacity, open loop',
      measured: `${ours.toFixed(1)} ms`,
      limit: `≤ ${limit.toFixed(1)} ms (bare + ${p99MarginMs})`,
      met: ours <= limit,
    },
    {
      item: '5',
      what: 'Idle single request, p50: no timer in its way',
      measured: `${idle.intake.p50.toFixed(2)} ms`,
      limit: `≤ ${idleLimit.toFixed(2)} ms (bare + one synced Redis write + ${timerMarginMs})`,
      met: idle.intake.p50 <= idleLimit,
    },
  ]
}
