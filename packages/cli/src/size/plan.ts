import * as figures from './figures.ts'
import { daySeconds, hourSeconds, interpolate, outageBegin, rateAt, type Load } from './load.ts'

export interface Plan {
  meanPerSecond: number
  peakPerSecond: number
  gateways: number
  workers: number
  /** Cores that inserts and merges use while a backlog drains; queries come on top. */
  clickhouseCores: number
  /** Of all masters together, for an outage around the peak without a refusal. */
  redisMemoryBytes: number
  /** Share of one core at the peak. */
  redisCores: number
  /** Of one waiting event. */
  redisBytesPerEvent: number
  clickhouseDiskBytes: number
  s3Bytes: number
  /** Rows per second that can be stored. */
  storedPerSecond: number
  /** Share of Redis's memory that waiting events may fill. */
  queueShare: number
}

/** At the peak, what can be stored is at least this many times what arrives, so that a backlog drains. */
const drainFactor = 2
/** With less, `intake doctor` warns. */
const redisMemoryBytesMin = 128 * 1024 ** 2
/** Partitions are months: the oldest row of the last one is older than the retention. */
const partitionDays = 31

/** The size of every part, by the formulas of docs/operations/capacity.md. */
export function planFor(load: Load): Plan {
  const meanPerSecond = load.eventsPerDay / daySeconds
  const peakPerSecond = meanPerSecond * load.peak
  const gateways = gatewaysFor(load, peakPerSecond)
  const redisBytesPerEvent = redisBytesFor(load, meanPerSecond / (gateways - 1))
  const queueShare = figures.refuseShare - (load.reservations ? figures.reservationsShare : 0)
  const storing = Math.ceil((drainFactor * peakPerSecond) / figures.workerRowsPerSecond)
  const storedPerSecond = storing * figures.workerRowsPerSecond
  const clickhouseUs = interpolate(figures.clickhouseUs, load.eventBytes, { logarithmic: false })
  const rowBytes = figures.rowBytes * (load.eventBytes / figures.measuredEventBytes)
  const rowsPerDay = load.eventsPerDay + load.feedbackPerDay
  // A month is merged into one part after its last late event, and needs its own size again meanwhile.
  const diskDays = load.retentionDays + 2 * partitionDays
  return {
    meanPerSecond,
    peakPerSecond,
    gateways,
    // One more, so that one may be away.
    workers: storing + 1,
    clickhouseCores: Math.ceil((storedPerSecond * clickhouseUs) / 1e6),
    redisMemoryBytes: Math.max(
      redisMemoryBytesMin,
      (waitingAfterOutage(load) * redisBytesPerEvent) / queueShare,
    ),
    redisCores: (peakPerSecond * figures.redisUs) / 1e6,
    redisBytesPerEvent,
    clickhouseDiskBytes: rowsPerDay * diskDays * rowBytes,
    s3Bytes: load.feedbackPerDay * load.imageBytes * (load.retentionDays + partitionDays),
    storedPerSecond,
    queueShare,
  }
}

function gatewaysFor(load: Load, peakPerSecond: number): number {
  const single = interpolate(figures.gatewayUs, load.eventBytes, { logarithmic: false })
  const share = interpolate(figures.gatewayBatchShare, load.batch, { logarithmic: true })
  const formUs = figures.formUs * (load.imageBytes / figures.formImageBytes)
  const formsPerSecond = (load.feedbackPerDay / daySeconds) * load.peak
  const cores = (peakPerSecond * single * share + formsPerSecond * formUs) / 1e6
  // One more, so that one may be away.
  return Math.max(1, Math.ceil(cores / figures.gatewayShare)) + 1
}

function redisBytesFor(load: Load, perSecondOfGateway: number): number {
  const single = interpolate(figures.redisBytes, perSecondOfGateway, { logarithmic: true })
  const batch: [number, number][] = [
    [1, single],
    [100, Math.min(single, figures.redisBatchBytes)],
  ]
  const measured = interpolate(batch, load.batch, { logarithmic: true })
  return measured * (load.eventBytes / figures.measuredEventBytes)
}

/** Events that arrive during the outage. */
function waitingAfterOutage(load: Load): number {
  const begin = outageBegin(load)
  const minutes = Math.round(load.outageHours * 60)
  let events = 0
  for (let minute = 0; minute < minutes; minute++)
    events += rateAt(load, begin + (minute + 0.5) / 60) * (hourSeconds / 60)
  return events
}
