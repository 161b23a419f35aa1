import { ClickHouseError, describeError, isoTime } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { isRefusal, type Redis } from '@intake/redis'
import { TimeoutError } from '@intake/runtime'
import { findQueuedRows } from '../queued-rows.ts'
import type { RecordServices } from '../services.ts'
import { findInTables } from './find-in-tables.ts'
import { matches, type RecordRow, type RecordSearch } from './matches.ts'

/** Most important first: the result of `intake trace` is the first state that was found. */
export const traceStates = ['dead_lettered', 'queued', 'in_progress', 'erased', 'stored'] as const
export type TraceState = (typeof traceStates)[number]

/** A record that was found. Times are ISO 8601 in UTC. */
export interface TracedRecord {
  state: TraceState
  kind: RecordKind
  id: string
  bundle_identifier: string
  device_uuid: string
  time: string
  /** Absent if the record was erased, because only its identity remains. */
  request_id?: string
  received_at?: string
  /** ClickHouse's error code, if the record is a dead letter. */
  error_code?: number
}

export interface Trace {
  records: TracedRecord[]
  /** Frames in Redis that this version cannot read: the record may be in one. */
  unreadable_frames: number
  /** Why Redis could not be read completely, in words for an operator; absent if it could. */
  queue_unread?: string
  /** Why ClickHouse could not be asked, in words for an operator; absent if it could. */
  tables_unread?: string
}

const queueTimeoutMs = 5_000

/**
 * A record that is found in several places is reported once: the tables take precedence over the
 * dead letters, and these over Redis. `redis` may be the reason why Redis cannot be asked.
 */
export async function traceRecords(
  { redis, clickhouse }: { clickhouse: RecordServices['clickhouse']; redis: Redis | Error },
  search: RecordSearch,
): Promise<Trace> {
  const records = new Map<string, TracedRecord>()
  const add = (record: TracedRecord) => records.set(identityOf(record), record)
  let unreadableFrames = 0
  const unread: Pick<Trace, 'queue_unread' | 'tables_unread'> = {}
  // Redis is read before ClickHouse, so that a frame is not missed if a worker inserts it into
  // ClickHouse meanwhile: its rows are then found in the tables.
  try {
    if (redis instanceof Error) throw redis
    const frames = findQueuedRows(redis, matches(search), queueTimeoutMs)
    for await (const { kind, isClaimed, rows } of frames) {
      if (rows === undefined) unreadableFrames++
      for (const row of rows ?? []) {
        add(traced(isClaimed ? 'in_progress' : 'queued', kind, JSON.parse(row) as RecordRow))
      }
    }
  } catch (error) {
    const isOfRedis = error instanceof TimeoutError || isRefusal(error) || error === redis
    if (!isOfRedis) throw error
    unread.queue_unread = (error as Error).message
  }
  try {
    for (const row of await findInTables(clickhouse, search)) {
      const { state, kind, error_code } = row
      add({ ...traced(state, kind, row), ...(error_code !== undefined && { error_code }) })
    }
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error
    unread.tables_unread = describeError(error)
  }
  return { records: [...records.values()], unreadable_frames: unreadableFrames, ...unread }
}

function traced(state: TraceState, kind: RecordKind, row: RecordRow): TracedRecord {
  const { id, bundle_identifier, device_uuid, request_id, time, received_at } = row
  return {
    state,
    kind,
    id,
    bundle_identifier,
    device_uuid,
    time: iso(time),
    ...(state !== 'erased' && { request_id, received_at: iso(received_at) }),
  }
}

const identityOf = ({ kind, bundle_identifier, id, device_uuid }: TracedRecord) =>
  JSON.stringify([kind, bundle_identifier, id, device_uuid.toLowerCase()])

/** Converts a time as it is in a row, or as ClickHouse prints it, to ISO 8601. */
const iso = (time: string) => (time.endsWith('Z') ? time : isoTime(time))
