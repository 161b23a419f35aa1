import type { Round } from '../measure.ts'
import { number, range } from '../report/format.ts'
import { median } from '../statistics.ts'
import type { Check, Table } from './suite.ts'

/** The loads, as shares of the capacity. */
export const levels = [0.25, 0.5, 0.75] as const
export const judgedLevel = 0.5

/** A round of the open loop. `level` is the load of the round, as a share of the capacity. */
export interface OpenRound {
  level: number
  round: Round
}

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

const p99MarginMs = 10

export function latencyCheck(rounds: OpenRound[]): Check {
  const ours = values(rounds, 'intake', judgedLevel, 'p99')
  const bare = median(values(rounds, 'bare', judgedLevel, 'p99'))
  return {
    item: '5',
    what: 'Ack p99 at half capacity, open loop',
    measured: `${range(ours, 1)} ms`,
    limit: `≤ ${(bare + p99MarginMs).toFixed(1)} ms (bare + ${p99MarginMs}) on a machine where bare takes 25 µs of CPU`,
    met: undefined,
  }
}
