import type { Round } from '../measure.ts'
import { number, range } from '../report/format.ts'
import { median, type Percentiles } from '../statistics.ts'
import type { Check, Table } from './suite.ts'

/** The loads, as shares of the capacity. */
export const levels = [0.25, 0.5, 0.75] as const
export const judgedLevel = 0.5

/** A round of the open loop. `level` is the load of the round, as a share of the capacity. */
export interface OpenRound {
  level: number
  round: Round
}

/** Latencies without other load: of a request, and of one Redis write that is synced to disk. */
export type Idle = Record<'intake' | 'bare' | 'redis', Percentiles>

type Point = 'p50' | 'p99' | 'p999'
const points: Point[] = ['p50', 'p99', 'p999']

const values = (rounds: OpenRound[], variant: string, level: number, point: Point) =>
  rounds
    .filter((one) => one.level === level && one.round.variant === variant)
    .map(({ round }) => round.load.latencyMs[point])

export function ackTable(rounds: OpenRound[], capacity: number): Table {
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
  }
}

export function idleTable(idle: Idle): Table {
  const row = (name: string, { p50, p99 }: Percentiles) => [name, number(p50, 2), number(p99, 2)]
  return {
    title: `Idle: single requests with pauses in between, milliseconds`,
    head: ['what', 'p50', 'p99'],
    rows: [
      row('intake', idle.intake),
      row('bare', idle.bare),
      row('one Redis SET, synced to disk', idle.redis),
    ],
  }
}

export function visibleTable(visible: Percentiles): Table {
  return {
    title: 'From the acknowledgement until visible, at half capacity, milliseconds',
    head: ['events', 'p50', 'p99', 'largest'],
    rows: [[number(visible.count), number(visible.p50), number(visible.p99), number(visible.max)]],
    note: 'From the n-th acknowledgement to the moment when n rows were readable.',
  }
}

const p99MarginMs = 10
const timerMarginMs = 2

export function latencyChecks(rounds: OpenRound[], idle: Idle): Check[] {
  const ours = values(rounds, 'intake', judgedLevel, 'p99')
  const bare = median(values(rounds, 'bare', judgedLevel, 'p99'))
  const aim = bare + p99MarginMs
  const idleLimit = idle.bare.p50 + idle.redis.p50 + timerMarginMs
  return [
    {
      item: '5',
      what: 'Ack p99 at half capacity, open loop',
      measured: `${range(ours, 1)} ms`,
      limit: `≤ ${aim.toFixed(1)} ms (bare + ${p99MarginMs}) on a machine where bare takes 25 µs of CPU`,
      met: undefined,
    },
    {
      item: '5',
      what: 'Idle single request, p50: not delayed by a timer',
      measured: `${idle.intake.p50.toFixed(2)} ms`,
      limit: `≤ ${idleLimit.toFixed(2)} ms (bare + one synced Redis write + ${timerMarginMs})`,
      met: idle.intake.p50 <= idleLimit,
    },
  ]
}
