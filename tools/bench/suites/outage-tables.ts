import type { Buffered, Drain } from '../backlog.ts'
import { defaultBodySize } from '../corpus.ts'
import type { DirectInsert } from '../direct-insert.ts'
import type { Round } from '../measure.ts'
import { number, range, ratio, ratioRange } from '../report/format.ts'
import { median } from '../statistics.ts'
import type { Check, Table } from './suite.ts'

export const acceptedPerSecond = ({ load }: Buffered): number =>
  load.acknowledged.count / load.seconds

export function bufferTable(intake: Buffered, frames: number): Table {
  const row = [
    'intake',
    number(intake.load.acknowledged.count),
    number(acceptedPerSecond(intake)),
    number(intake.memoryPerEvent),
    number(intake.fileBytesPerEvent),
  ]
  const perFrame = number(intake.load.acknowledged.count / frames, 1)
  return {
    title: 'Buffered in Redis',
    head: ['variant', 'events', 'accepted/s', 'memory, B/event', 'append-only file, B/event'],
    rows: [row],
    note: `Bodies of ${defaultBodySize} B. Intake put ${perFrame} events into a frame on average.`,
  }
}

export interface DrainedLoad extends Drain {
  acceptedPerSecond: number
}

/** The measured drains, direct inserts, and rounds of the variant `bare`. */
export interface Saturated {
  drains: DrainedLoad[]
  direct: DirectInsert[]
  bare: Round[]
}

export function drainTable({ drains, direct }: Saturated): Table {
  const of = (pick: (drain: Drain) => number, digits = 0) => range(drains.map(pick), digits)
  const ofDirect = (pick: (insert: DirectInsert) => number, digits = 0) =>
    range(direct.map(pick), digits)
  return {
    title: 'Drained at saturation',
    head: ['what', 'drain', 'direct inserts'],
    rows: [
      [
        'rows/s',
        of(({ rowsPerSecond }) => rowsPerSecond),
        ofDirect(({ rowsPerSecond }) => rowsPerSecond),
      ],
      [
        'ClickHouse CPU, µs/row',
        of(({ cpu }) => cpu.clickhouse, 1),
        ofDirect(({ cpuPerRow }) => cpuPerRow, 1),
      ],
      ['worker CPU at saturation, µs/row', of((one) => one.saturatedWorkerCpu, 1), ''],
      ['worker CPU of the whole drain, µs/row', of(({ cpu }) => cpu.worker, 1), ''],
      ['Redis CPU, µs/row', of(({ cpu }) => cpu.redis, 1), ''],
      ['ClickHouse, % of all processors', of(shareOf('clickhouse')), ''],
      ['worker, % of all processors', of(shareOf('worker')), ''],
    ],
    note: `${drains.length} rounds. ClickHouse's CPU includes the merges after the last row.`,
  }
}

const shareOf =
  (part: 'worker' | 'clickhouse') =>
  ({ machineShare }: Drain) =>
    machineShare[part] * 100

const clickHouseBoundShare = 0.8
const workerShareOfBare = 0.2

export function outageChecks(buffered: Buffered, saturated: Saturated): Check[] {
  const { drains, direct, bare } = saturated
  /** The n-th drain and the n-th direct insert belong to the same turn. */
  const byTurn = (pick: (drain: Drain, insert: DirectInsert) => number) =>
    drains.flatMap((drain, turn) => {
      const insert = direct[turn]
      return insert === undefined ? [] : pick(drain, insert)
    })
  const bareCpu = median(bare.map(({ cpuPerEvent }) => cpuPerEvent.gateway))
  const worker = drains.map((drain) => drain.saturatedWorkerCpu / bareCpu)
  const wholeDrain = drains.map(({ cpu }) => cpu.worker / bareCpu)
  const clickhouse = byTurn(({ cpu }, { cpuPerRow }) => cpu.clickhouse / cpuPerRow)
  const ofAccepted = drains.map((drain) => drain.rowsPerSecond / drain.acceptedPerSecond)
  const ofDirect = byTurn((drain, insert) => drain.rowsPerSecond / insert.rowsPerSecond)
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
      what: 'Worker CPU per event at saturation ÷ gateway of bare',
      measured: `${ratioRange(worker)}; of the whole drain ${ratioRange(wholeDrain)}`,
      limit: `≤ ${ratio(workerShareOfBare)}`,
      met: median(worker) <= workerShareOfBare,
    },
    {
      item: '4',
      what: 'ClickHouse CPU per row ÷ direct 5,000-row insert',
      measured: ratioRange(clickhouse),
      limit: '≤ 1.20 ×',
      met: median(clickhouse) <= 1.2,
    },
    {
      item: '4',
      what: 'Drain rate ÷ accept rate (or ÷ direct inserts: limited by ClickHouse)',
      measured: `${ratioRange(ofAccepted)}; of direct inserts ${ratioRange(ofDirect)}`,
      limit: `≥ 3 × (or ≥ ${ratio(clickHouseBoundShare)})`,
      met: median(ofAccepted) >= 3 || median(ofDirect) >= clickHouseBoundShare,
    },
  ]
}
