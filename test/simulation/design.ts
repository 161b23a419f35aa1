/** The decisions that the guarantees rest on. Each wrong design changes a few of them. */
export interface Design {
  /** When the client gets 201. */
  acknowledge: 'when the queue confirmed' | 'when the frame is sent'
  /** The response to a client if the queue may or may not have the frame. */
  unknownIsToldAs: 'unknown' | 'refused'
  /** Whether the id for an idempotency key is reserved before anything is stored. */
  reservation: boolean
  /** The days for which a gateway looks up reservations. */
  reservationDays: 'all' | 'today and tomorrow'
  /** Which process assigns the id and time of a record. */
  identity: 'gateway' | 'worker'
  time: 'from the id' | 'of arrival'

  /** When Redis writes to its disk: before it confirms (`always`), or later (`everysec`). */
  appendfsync: 'always' | 'everysec'
  /** How often a stalled job is recovered at most. At the next stall, the job fails. */
  maxStalledCount: number
  /** Whether a repeated frame keeps its job id. */
  sameJobId: boolean
  /** Whether a job can be completed only by the worker that holds its lock. */
  lockedCompletion: boolean

  complete: 'after the insert' | 'before the insert'
  beforeInsert: 'nothing' | 'skip if any row is there' | 'leave out rows that are there'
  /** Whether an insert counts as failed if ClickHouse reports fewer rows than were sent. */
  checkWrittenRows: boolean
  /** The frames that stop the watermark. It must not advance beyond their oldest record. */
  pending: 'all frames' | 'waiting frames' | 'shard 0'

  engine: 'ReplacingMergeTree' | 'MergeTree'
  /** Whether readers collapse the duplicates that are not merged yet. */
  final: boolean
  sortingKey: 'time, device, id' | 'time, id' | 'time'
  partitionBy: 'time' | 'received_at' | 'time of the insert'
}

/** The design that Intake implements. */
export const rightDesign: Design = {
  acknowledge: 'when the queue confirmed',
  unknownIsToldAs: 'unknown',
  reservation: true,
  reservationDays: 'all',
  identity: 'gateway',
  time: 'from the id',
  appendfsync: 'always',
  maxStalledCount: Infinity,
  sameJobId: true,
  lockedCompletion: true,
  complete: 'after the insert',
  beforeInsert: 'nothing',
  checkWrittenRows: true,
  pending: 'all frames',
  engine: 'ReplacingMergeTree',
  final: true,
  sortingKey: 'time, device, id',
  partitionBy: 'time',
}
