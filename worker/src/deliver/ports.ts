import type { ClickHouse, FailureKind } from '@intake/clickhouse'
import type { QueueName } from '@intake/queue'
import type { ClaimedFrame } from '@intake/queue/consume'

/** What delivery uses of ClickHouse. The type `ClickHouse` documents the guarantees. */
export type RowStore = Pick<ClickHouse, 'insertRows'>

/**
 * The events of a worker's loops, one for each queue, in about the order in which a batch calls
 * them; `unreadable` and `locksLost` at any time.
 */
export interface DeliveryEvents {
  waitsForFrames(kind: QueueName): void
  /** A command to Redis failed: the wait of a loop for frames begins anew, as it is alive. */
  queueFailed(kind: QueueName): void
  taken(kind: QueueName, frames: readonly ClaimedFrame[]): void
  insertBegan(kind: QueueName): void
  inserted(kind: QueueName, rows: number): void
  failed(kind: QueueName, failure: FailureKind, reason: string): void
  /** Rows of the frame became visible. */
  visible(kind: QueueName, frame: ClaimedFrame): void
  deadLettered(kind: QueueName): void
  postponed(kind: QueueName, frames: number): void
  /** All frames of the batch have been completed, postponed or released. */
  batchEnded(kind: QueueName): void
  unreadable(kind: QueueName): void
  locksLost(kind: QueueName, frames: number): void
}
