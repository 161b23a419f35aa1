/**
 * `down` means that the service does not do its job and is not ready. `degraded` means that the
 * service does its job only in part or slowly, or that an operator must look at it.
 */
export type ProblemState = 'degraded' | 'down'

interface ProblemType {
  /** The problem as one clause, which is also its log line. */
  title: string
  state: ProblemState
}

/**
 * Every bad state that metrics, alerts, `/status` and `intake doctor` can report. Each has a page
 * in docs/operations (see `helpOf`).
 */
export const problemCatalogue = {
  redis_connection: { title: 'Redis cannot be reached or takes no writes', state: 'down' },
  redis_lost_its_data: { title: 'Redis belongs to no installation', state: 'down' },
  redis_could_lose_records: { title: 'Redis could lose accepted records', state: 'down' },
  redis_version: { title: 'this version of Redis is not supported', state: 'down' },
  redis_memory: { title: 'the memory settings of Redis do not fit', state: 'degraded' },
  queue_full: { title: 'the queue is full: records are refused', state: 'degraded' },
  queue_paused: { title: 'a queue is paused: its records wait', state: 'degraded' },
  keys_full: { title: 'new idempotency keys are refused', state: 'degraded' },
  key_budget: {
    title: 'an API key has used most of its budget for this day',
    state: 'degraded',
  },
  clock_skew: { title: 'the clock of this gateway is wrong', state: 'down' },
  overloaded: { title: 'requests are refused because too many are in flight', state: 'degraded' },
  object_store: { title: 'the object store does not work', state: 'degraded' },
  attachments_left: {
    title: 'attachments of a refused feedback were left behind',
    state: 'degraded',
  },
  request_refused: { title: 'a request failed because of a fault in Intake', state: 'degraded' },
  insert_retry: { title: 'ClickHouse is unavailable or busy', state: 'down' },
  insert_stalled: { title: 'an insert takes long', state: 'degraded' },
  insert_operator: { title: 'ClickHouse needs an operator', state: 'down' },
  insert_split: { title: 'ClickHouse cannot take an insert of this size', state: 'degraded' },
  insert_rejected: { title: 'ClickHouse rejects rows', state: 'degraded' },
  rows_refused: { title: 'a table rejects every row', state: 'down' },
  frame_postponed: { title: 'a frame cannot be stored now; it is postponed', state: 'degraded' },
  frame_unreadable: { title: 'a frame cannot be read; it is kept', state: 'degraded' },
  dead_letters: { title: 'dead letters wait for an operator', state: 'degraded' },
  locks_lost: { title: 'locks of frames were lost', state: 'degraded' },
  backlog: { title: 'records wait to be stored', state: 'degraded' },
  watermark: { title: 'the watermark is not advancing', state: 'degraded' },
  worker_stuck: { title: 'this worker takes no frames', state: 'down' },
  page_fails: { title: 'the page could not be shown', state: 'degraded' },
  counts_late: { title: 'events of an application could not be counted', state: 'degraded' },
  webhook_fails: { title: 'webhook requests fail', state: 'degraded' },
  clickhouse_version: { title: 'this version of ClickHouse is not supported', state: 'down' },
  clickhouse_schema: { title: 'the tables differ from this version of Intake', state: 'down' },
  clickhouse_disk: { title: 'the disk of ClickHouse is filling up', state: 'degraded' },
  clickhouse_settings: { title: 'settings of ClickHouse do not fit', state: 'degraded' },
  configuration: { title: 'settings do not fit together', state: 'down' },
  process_ends: { title: 'a process exits or does not respond', state: 'down' },
} as const satisfies Record<string, ProblemType>

export type ProblemCode = keyof typeof problemCatalogue

/** Returns the path of a problem's page, from the root of the repository. */
export function helpOf(code: ProblemCode): string {
  return `docs/operations/${code.replaceAll('_', '-')}.md`
}

/** Problems that follow from others, so they say least about what to do. */
const consequences: ReadonlySet<string> = new Set([
  'backlog',
  'watermark',
  'insert_stalled',
  'counts_late',
])

function rankOf(code: string): number {
  if (consequences.has(code)) return 2
  return problemCatalogue[code as ProblemCode]?.state === 'down' ? 0 : 1
}

/** Compares two problems for a list: what causes others first, then the oldest first. */
export const byCause = (
  one: { code: string; since: string },
  other: { code: string; since: string },
): number => rankOf(one.code) - rankOf(other.code) || one.since.localeCompare(other.since)
