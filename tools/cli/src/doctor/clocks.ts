import { findingIf, type Finding } from './finding.ts'

/** How far a clock is ahead of this machine's, within the error of the measurement. */
export interface Ahead {
  min: number
  max: number
}

export function findClockProblems(
  { redis, clickhouse }: { redis: Ahead; clickhouse: Ahead },
  { skewMaxMs }: { skewMaxMs: number },
): Finding[] {
  const each = { min: clickhouse.min - redis.max, max: clickhouse.max - redis.min }
  return findingIf(
    [redis, clickhouse, each].some(({ min, max }) => min > skewMaxMs || max < -skewMaxMs),
    'clock_skew',
    `the clock of Redis is ${print(redis)} and that of ClickHouse ${print(clickhouse)} of this machine; ` +
      `at most ${skewMaxMs / 1_000} s is accepted`,
    'Synchronise these clocks, and those of the gateways, with NTP.',
  )
}

function print({ min, max }: Ahead): string {
  const ms = (min + max) / 2
  return `${(Math.abs(ms) / 1_000).toFixed(1)} s ${ms < 0 ? 'behind' : 'ahead'}`
}
