import { findingIf, type Finding } from './finding.ts'

/** How far a clock is ahead of this machine's, within the error of the measurement. */
export interface Ahead {
  min: number
  max: number
}

/** If one clock differs from the other two by more than gateways accept, that clock is wrong. */
export function findClockProblems(
  clocks: { redis: Ahead; clickhouse: Ahead },
  { skewMaxMs }: { skewMaxMs: number },
): Finding[] {
  const { redis, clickhouse } = clocks
  const differs = ({ min, max }: Ahead) => min > skewMaxMs || max < -skewMaxMs
  const each = { min: clickhouse.min - redis.max, max: clickhouse.max - redis.min }
  const wrong = [differs(redis), differs(clickhouse), differs(each)]
  const [ofRedis, ofClickHouse, ofEach] = wrong
  const suspects = [
    ...(ofRedis && ofEach ? ['Redis'] : []),
    ...(ofClickHouse && ofEach ? ['ClickHouse'] : []),
    ...(ofRedis && ofClickHouse ? ['this machine'] : []),
  ]
  return findingIf(
    wrong.includes(true),
    'clock_skew',
    `the clock of Redis is ${print(redis)} and that of ClickHouse ${print(clickhouse)} of this machine; ` +
      `at most ${skewMaxMs / 1_000} s is accepted`,
    `Synchronise the clock of ${suspects.length === 1 ? suspects[0] : 'each machine'} with NTP, and those of the gateways.`,
  )
}

function print({ min, max }: Ahead): string {
  const ms = (min + max) / 2
  return `${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms < 0 ? 'behind' : 'ahead'}`
}
