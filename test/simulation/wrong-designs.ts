import { rightDesign, type Design } from './design.ts'
import type { Rule } from './judge.ts'

/** A design that differs from the right one by `change` and therefore breaks the rule `breaks`. */
export interface WrongDesign {
  change: Partial<Design>
  breaks: Rule
  /**
   * A seed with which this design breaks the rule; set if only few seeds do. The search begins with
   * this seed.
   */
  seed?: number
}

/**
 * The wrong designs that the simulation must find. Each name is a design that may seem good enough.
 */
export const wrongDesigns: Record<string, WrongDesign> = {
  'acknowledge when the frame is sent': {
    change: { acknowledge: 'when the frame is sent' },
    breaks: 'lost',
  },
  'say refused when the queue did not respond': {
    change: { unknownIsToldAs: 'refused' },
    breaks: 'refused but stored',
  },
  'idempotency keys without a reservation': {
    change: { reservation: false },
    breaks: 'split',
  },
  'id and time assigned by the worker': {
    change: { identity: 'worker' },
    breaks: 'split',
  },
  'a queue that loses its tail (everysec)': {
    change: { appendfsync: 'everysec' },
    breaks: 'lost',
    seed: 3,
  },
  'maxStalledCount 1': {
    change: { maxStalledCount: 1 },
    breaks: 'job failed',
  },
  'complete before the insert': {
    change: { complete: 'before the insert' },
    breaks: 'lost',
  },
  'written_rows not checked': {
    change: { checkWrittenRows: false },
    breaks: 'lost',
    seed: 55_760_383,
  },
  'a watermark that ignores frames in progress': {
    change: { pending: 'waiting frames' },
    breaks: 'early',
  },
  'a watermark that ignores all shards but one': {
    change: { pending: 'shard 0' },
    breaks: 'early',
  },
  'skip the insert if any row is stored': {
    change: { beforeInsert: 'skip if any row is there' },
    breaks: 'lost',
  },
  'leave out the stored rows, table without deduplication': {
    change: { beforeInsert: 'leave out rows that are there', engine: 'MergeTree', final: false },
    breaks: 'duplicate',
  },
  'FINAL missing': {
    change: { final: false },
    breaks: 'duplicate',
  },
  'table without deduplication': {
    change: { engine: 'MergeTree' },
    breaks: 'duplicate',
  },
  'sorting key without the id': {
    change: { sortingKey: 'time' },
    breaks: 'lost',
  },
  'sorting key without the device': {
    change: { sortingKey: 'time, id' },
    breaks: 'lost',
  },
  'time of arrival instead of the time in the id': {
    change: { time: 'of arrival' },
    breaks: 'duplicate',
  },
  'reservations of earlier days not looked up': {
    change: { reservationDays: 'today and tomorrow' },
    breaks: 'split',
  },
  'partition by the time of arrival': {
    change: { partitionBy: 'received_at' },
    breaks: 'duplicate',
  },
  'partition by the time of the insert': {
    change: { partitionBy: 'time of the insert' },
    breaks: 'duplicate',
  },
}

/** Other designs that keep the guarantees: the simulation must not report them. */
export const harmlessDesigns: Record<string, Partial<Design>> = {
  'a new job id for each repeated frame': { sameJobId: false },
  'a job that any worker may complete after the insert': { lockedCompletion: false },
  'stored rows left out, with a table that deduplicates': {
    beforeInsert: 'leave out rows that are there',
  },
}

export function designOf(change: Partial<Design>): Design {
  return { ...rightDesign, ...change }
}
