import type { Round } from '../measure.ts'
import { range } from '../report/format.ts'

/** The heads of the columns that `costs` returns: events per second, and microseconds of CPU. */
export const costHead = ['accepted/s', 'delivered/s', 'gateway', 'Redis', 'worker', 'ClickHouse']

/** Returns the rates of rounds, and the CPU per event of each part. */
export function costs(rounds: Round[]): string[] {
  const of = (pick: (round: Round) => number, digits: number) => range(rounds.map(pick), digits)
  return [
    of((round) => round.acceptedPerSecond, 0),
    of((round) => round.deliveredPerSecond, 0),
    ...(['gateway', 'redis', 'worker', 'clickhouse'] as const).map((part) =>
      of((round) => round.cpuPerEvent[part], 1),
    ),
  ]
}
