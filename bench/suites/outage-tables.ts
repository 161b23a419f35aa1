import type { Buffered, Drain } from '../backlog.ts'
import { defaultBodySize } from '../corpus.ts'
import type { DirectInsert } from '../direct-insert.ts'
import { number, ratio } from '../report/format.ts'
import type { Check, Table } from './suite.ts'

const acceptedPerSecond = ({ load }: Buffered) => load.acknowledged.count / load.seconds

export function bufferTable(intake: Buffered, naive: Buffered, frames: number): Table {
  const row = (name: string, of: Buffered) => [
    name,
    number(of.load.acknowledged.count),
    number(acceptedPerSecond(of)),
    number(of.memoryPerEvent),
    number(of.fileBytesPerEvent),
  ]
  const perFrame = number(intake.load.acknowledged.count / frames, 1)
  return {
    title: 'Buffered in Redis',
    head: ['variant', 'events', 'accepted/s', 'memory, B/event', 'append-only file, B/event'],
    rows: [row('intake', intake), row('naive', naive)],
    note: `Bodies of ${defaultBodySize} B. Intake put ${perFrame} events into a frame on average.
The same memory holds ${ratio(naive.memoryPerEvent / intake.memoryPerEvent)} as many events as \`naive\`.`,
  }
}

export function drainTable(drained: Drain, direct: DirectInsert): Table {
  const percent = (share: number) => `${number(share * 100)} %`
  return {
    title: 'Drained',
    head: ['what', 'value'],
    rows: [
      ['drain rate, events/s', number(drained.rowsPerSecond)],
      ['direct inserts of 5,000 rows one after the other, rows/s', number(direct.rowsPerSecond)],
      ['from ClickHouse’s return to the first row, s', number(drained.firstRowSeconds, 1)],
      ['from ClickHouse’s return to empty, s', number(drained.emptySeconds, 1)],
      ['worker CPU, µs/event', number(drained.cpu.worker, 1)],
      ['Redis CPU, µs/event', number(drained.cpu.redis, 1)],
      ['ClickHouse CPU, µs/row', number(drained.cpu.clickhouse, 1)],
      ['ClickHouse CPU of the direct inserts, µs/row', number(direct.cpuPerRow, 1)],
      ['of all processors: worker', percent(drained.machineShare.worker)],
      ['of all processors: ClickHouse', percent(drained.machineShare.clickhouse)],
    ],
    note: `CPU includes the merges after the last row, so its share of the drain can pass 100 %.`,
  }
}

const clickHouseBoundShare = 0.8

export function outageChecks(buffered: Buffered, drained: Drain, direct: DirectInsert): Check[] {
  const clickhouseRatio = drained.cpu.clickhouse / direct.cpuPerRow
  const drainRatio = drained.rowsPerSecond / acceptedPerSecond(buffered)
  const ofDirect = drained.rowsPerSecond / direct.rowsPerSecond
  return [
    {
      item: '3',
      what: `Redis bytes per buffered event of ${defaultBodySize} B`,
      measured: `${number(buffered.memoryPerEvent)} B`,
      limit: '≤ 400 B',
      met: buffered.memoryPerEvent <= 400,
    },
    {
      item: '4',
      what: 'Worker CPU per event at saturation',
      measured: `${number(drained.cpu.worker, 1)} µs`,
      limit: '≤ 5 µs',
      met: drained.cpu.worker <= 5,
    },
    {
      item: '4',
      what: 'ClickHouse CPU per row ÷ direct 5,000-row insert',
      measured: ratio(clickhouseRatio),
      limit: '≤ 1.20 ×',
      met: clickhouseRatio <= 1.2,
    },
    {
      item: '4',
      what: 'Drain rate ÷ accept rate (or ÷ direct inserts: limited by ClickHouse)',
      measured: `${ratio(drainRatio)} (${ratio(ofDirect)})`,
      limit: `≥ 3 × (or ≥ ${ratio(clickHouseBoundShare)})`,
      met: drainRatio >= 3 || ofDirect >= clickHouseBoundShare,
    },
  ]
}
