import { rightDesign, type Design } from './design.ts'
import type { Rule } from './verdict.ts'

/** A design that differs from the right one in what `change` says, and breaks `breaks` by it. */
export interface WrongDesign {
  change: Partial<Design>
  breaks: Rule
}

/** Each of the three uses of it has one of the holes of ClickHouse's deduplication; else it is harmless. */
const dedupByToken: Partial<Design> = { insertToken: 'the jobs', blocks: 'always the same' }

/** What the simulation must find. Each name says what somebody might think is good enough. */
export const wrongDesigns: Record<string, WrongDesign> = {
  'acknowledge when the frame is sent': {
    change: { acknowledge: 'when the frame is sent' },
    breaks: 'lost',
  },
  'say refused when the queue did not answer': {
    change: { unknownIsToldAs: 'refused' },
    breaks: 'refused but stored',
  },
  'send a frame later that was given up without a connection': {
    change: { offlineQueue: true },
    breaks: 'refused but stored',
  },
  'idempotency keys without a reservation': {
    change: { reservation: false },
    breaks: 'split',
  },
  'id and time given by the worker': {
    change: { identity: 'worker' },
    breaks: 'split',
  },
  'remove the images of a refused request that had a key': {
    change: { removeImagesOfRefused: 'all' },
    breaks: 'image lost',
  },
  'a queue that loses its tail (everysec)': {
    change: { appendfsync: 'everysec' },
    breaks: 'lost',
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
  },
  'skip the insert if any row is there': {
    change: { beforeInsert: 'skip if any row is there' },
    breaks: 'lost',
  },
  'leave out the rows that are there, table without deduplication': {
    change: { beforeInsert: 'leave out rows that are there', engine: 'MergeTree', final: false },
    breaks: 'duplicate',
  },
  'insert tokens, dedup log written before the part': {
    change: dedupByToken,
    breaks: 'lost',
  },
  'insert tokens that other data may have': {
    change: { ...dedupByToken, insertToken: 'the first job', dedupLog: 'with the part' },
    breaks: 'lost',
  },
  'insert tokens and another block split': {
    change: { ...dedupByToken, blocks: 'vary', dedupLog: 'with the part' },
    breaks: 'lost',
  },
  'FINAL missing': {
    change: { final: false },
    breaks: 'duplicate',
  },
  'table without deduplication': {
    change: { engine: 'MergeTree' },
    breaks: 'duplicate',
  },
  'sorting key without the identity': {
    change: { sortingKey: 'received_at' },
    breaks: 'lost',
  },
  'partition by the time of the insert': {
    change: { partitionBy: 'time of the insert' },
    breaks: 'duplicate',
  },
}

/** Other designs that keep the guarantees: the simulation must not cry wolf. */
export const harmlessDesigns: Record<string, Partial<Design>> = {
  'a new job id for each repeated frame': { sameJobId: false },
  'a job that anyone may complete after the insert': { lockedCompletion: false },
  'rows that are there left out, with a table that deduplicates': {
    beforeInsert: 'leave out rows that are there',
  },
  'insert tokens, if the dedup log were written with the part': {
    ...dedupByToken,
    dedupLog: 'with the part',
  },
}

export function designOf(change: Partial<Design>): Design {
  return { ...rightDesign, ...change }
}
