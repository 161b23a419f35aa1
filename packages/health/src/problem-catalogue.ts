/**
 * `down`: the service does not do its job and is not ready. `degraded`: it does so in part or
 * slowly, or an operator must look at it.
 */
export type ProblemState = 'degraded' | 'down'

interface ProblemType {
  /** The problem as one clause, which is also its log line and the summary of its alert. */
  title: string
  state: ProblemState
  /** What its alert says. Every state that a process reports has an alert. */
  alert?: string
  perProcess?: true
  /** Set if the state refuses records although it is only `degraded`: its alert is critical. */
  refuses?: true
  /** Who sees a state that no process reports; Prometheus by a rule of its own in alerts.yml. */
  seenBy?: 'doctor' | 'prometheus'
  /** A metric that shows more than `intake_problem` does, such as an amount. */
  metric?: string
  /** The log lines of a state that is an event, of which each is logged. */
  event?: string
  /** States that a finding of `intake doctor` can later cause. */
  becomes?: readonly string[]
  /** Set if its advice is a section of docs/operations/problems.md instead of a page of its own. */
  section?: true
}

/**
 * Every bad state that metrics, alerts, `/status` and `intake doctor` can report. `npm run
 * generate` writes the alert rules and docs/operations/states.md from it.
 */
export const problemCatalogue = {
  redis_connection: {
    title: 'Redis cannot be reached or takes no writes',
    state: 'down',
    alert:
      'Gateways refuse records with 503, workers take no frames. Nothing that was accepted is lost.',
    metric: 'intake_records_shed_total{code="queue_unavailable"}',
  },
  redis_lost_its_data: {
    title: 'Redis belongs to no installation',
    state: 'down',
    alert:
      'Redis is not the one of this installation, or its volume is gone. Nothing is accepted until an operator has decided.',
  },
  redis_could_lose_records: {
    title: 'Redis could lose accepted records',
    state: 'down',
    alert:
      'A crash of Redis would lose accepted records. Gateways refuse records, or with REDIS_DURABILITY=relaxed accept them at that risk: then silence this alert.',
    section: true,
  },
  redis_version: {
    title: 'this version of Redis is not supported',
    state: 'down',
    seenBy: 'doctor',
    becomes: ['redis_connection'],
    section: true,
  },
  redis_memory: {
    title: 'the memory settings of Redis do not fit',
    state: 'degraded',
    seenBy: 'doctor',
    becomes: ['redis_could_lose_records', 'queue_full'],
    section: true,
  },
  queue_full: {
    title: 'the queue is full: records are refused',
    state: 'degraded',
    alert:
      'Redis is near its memory limit: gateways refuse records with 503 queue_full until workers have stored some of the backlog.',
    refuses: true,
    metric: 'intake_redis_memory_used_bytes',
  },
  queue_paused: {
    title: 'a queue is paused: its records wait',
    state: 'degraded',
    alert:
      'Gateways accept the records of the queue, and no worker takes them, until someone runs `intake queue resume`.',
    metric: 'intake_backlog_rows',
    section: true,
  },
  keys_full: {
    title: 'new idempotency keys are refused',
    state: 'degraded',
    alert:
      'Gateways refuse requests with new idempotency keys with 503 keys_full. Other requests work.',
    refuses: true,
    metric: 'intake_reservations_held',
  },
  key_budget: {
    title: 'an API key has used most of its budget for this day',
    state: 'degraded',
    alert:
      'At 100 % gateways refuse its records with 429 budget_exhausted until midnight UTC. `intake status` says which key.',
  },
  clock_skew: {
    title: 'the clock of this gateway is wrong',
    state: 'down',
    alert: 'The gateway {{ $labels.instance }} refuses every record with 503 clock_skew.',
    perProcess: true,
    metric: 'intake_clock_skew_seconds',
    section: true,
  },
  overloaded: {
    title: 'requests are refused because too many are in flight',
    state: 'degraded',
    alert:
      'The gateway {{ $labels.instance }} refuses requests with 503 busy: its memory for bodies or its connections are used up.',
    perProcess: true,
    metric: 'intake_body_bytes_in_flight',
    event: 'requests refused',
    section: true,
  },
  object_store: {
    title: 'the object store does not work',
    state: 'degraded',
    alert:
      'Gateways refuse feedback with images with 503 storage_unavailable. Logs and feedback without images are accepted.',
    metric: 'intake_object_store_errors_total',
  },
  attachments_left: {
    title: 'attachments of a refused feedback were left behind',
    state: 'degraded',
    alert:
      'The object store did not delete the images of a refused feedback. They use space and can contain what a user sent.',
    section: true,
  },
  request_refused: {
    title: 'a request failed because of a fault in Intake',
    state: 'degraded',
    alert:
      'A gateway responded with 500: a bug. The log has its stack. The record may be stored or not.',
    metric: 'intake_requests_refused_total{code="internal_error"}',
    event: 'unexpected error',
  },
  insert_retry: {
    title: 'ClickHouse is unavailable or busy',
    state: 'down',
    alert:
      'Inserts fail and are repeated. Nothing is lost; gateways accept records until Redis is full.',
    metric: 'intake_insert_failures_total{failure="retry"}',
    section: true,
  },
  insert_stalled: {
    title: 'an insert takes long',
    state: 'degraded',
    alert:
      'An insert has been in progress for more than 5 seconds: ClickHouse or the network hangs. Nothing is lost.',
    metric: 'intake_insert_in_progress_seconds',
    section: true,
  },
  insert_operator: {
    title: 'ClickHouse needs an operator',
    state: 'down',
    alert:
      'Inserts fail with an error that does not go away by itself: a password, a right, a table, a disk.',
    metric: 'intake_insert_failures_total{failure="operator"}',
    section: true,
  },
  insert_split: {
    title: 'ClickHouse cannot take an insert of this size',
    state: 'degraded',
    alert: 'Inserts are halved until ClickHouse accepts them. Nothing is lost.',
    metric: 'intake_insert_failures_total{failure="split"}',
    section: true,
  },
  insert_rejected: {
    title: 'ClickHouse rejects rows',
    state: 'degraded',
    alert: 'ClickHouse rejects an insert because of its data. Its bad rows become dead letters.',
    metric: 'intake_insert_failures_total{failure="rejected"}',
    section: true,
  },
  rows_refused: {
    title: 'a table rejects every row',
    state: 'down',
    alert:
      'ClickHouse rejects every row of a table, so frames are postponed instead of dead-lettering all of them.',
    metric: 'intake_frames_postponed_total',
    section: true,
  },
  frame_postponed: {
    title: 'a frame cannot be stored now; it is postponed',
    state: 'degraded',
    alert: 'A row cannot be stored now and is retried later. The other rows are stored.',
    metric: 'intake_backlog_frames{state="delayed"}',
  },
  frame_unreadable: {
    title: 'a frame cannot be read; it is kept',
    state: 'degraded',
    alert: 'A worker found a frame that it cannot read. The frame is kept in the queue.',
    metric: 'intake_frames_unreadable_total',
    section: true,
  },
  dead_letters: {
    title: 'dead letters wait for an operator',
    state: 'degraded',
    alert: 'ClickHouse rejected rows. They are kept unchanged in intake.dead_letters.',
    metric: 'intake_dead_letters_waiting',
    section: true,
  },
  locks_lost: {
    title: 'locks of frames were lost',
    state: 'degraded',
    alert: 'Another worker may store the same rows again. The views hide the duplicates.',
    metric: 'intake_frame_locks_lost_total',
    event: 'locks lost: another worker may store the same rows again',
    section: true,
  },
  backlog: {
    title: 'records wait to be stored',
    state: 'degraded',
    alert:
      'Records are accepted faster than they are stored, or storing fails. The detail in /status says how many rows wait and when they are stored.',
    metric: 'intake_backlog_oldest_age_seconds',
    section: true,
  },
  watermark: {
    title: 'the watermark is not advancing',
    state: 'degraded',
    alert:
      'intake.watermark has not been stored for 8 seconds: readers do not know up to when the data is complete.',
    metric: 'intake_watermark_age_seconds',
  },
  worker_stuck: {
    title: 'this worker takes no frames',
    state: 'down',
    alert:
      'Frames wait, but the worker {{ $labels.instance }} takes none: its /healthz fails, so that its supervisor restarts it.',
    perProcess: true,
    section: true,
  },
  page_fails: {
    title: 'the page could not be shown',
    state: 'degraded',
    alert: 'A console could not show a view of the page.',
  },
  counts_late: {
    title: 'events of an application could not be counted',
    state: 'degraded',
    alert: 'Counts on the page and in intake.hours are late; records are stored as usual.',
    metric: 'intake_counted_age_seconds',
    event: 'the events could not be counted',
  },
  alerts_late: {
    title: 'alerts on events could not be evaluated',
    state: 'degraded',
    alert: 'Alerts on events are unknown: nobody is told of a spike or a silence.',
    event: 'alerts could not be evaluated; their state is unknown',
    section: true,
  },
  webhook_fails: {
    title: 'webhook requests fail',
    state: 'degraded',
    alert: 'Requests for stored feedback fail and are repeated.',
    metric: 'intake_webhook_requests_total{outcome="failed"}',
    event: 'a webhook request failed; it will be repeated',
  },
  clickhouse_version: {
    title: 'this version of ClickHouse is not supported',
    state: 'down',
    seenBy: 'doctor',
    becomes: ['insert_operator'],
    section: true,
  },
  clickhouse_schema: {
    title: 'the tables differ from this version of Intake',
    state: 'down',
    seenBy: 'doctor',
    becomes: ['insert_operator'],
  },
  clickhouse_disk: {
    title: 'the disk of ClickHouse is filling up',
    state: 'degraded',
    seenBy: 'prometheus',
    metric: 'ClickHouseAsyncMetrics_DiskAvailable_default',
    becomes: ['insert_operator'],
    section: true,
  },
  clickhouse_settings: {
    title: 'settings of ClickHouse do not fit',
    state: 'degraded',
    seenBy: 'doctor',
    becomes: ['insert_retry', 'insert_operator'],
  },
  configuration: {
    title: 'settings do not fit together',
    state: 'down',
    alert:
      'The Redis and the ClickHouse of a worker belong to different installations: it takes no frames. Correct REDIS_URL or CLICKHOUSE_URL.',
    becomes: ['process_ends'],
    section: true,
  },
  process_ends: {
    title: 'a process exits or does not respond',
    state: 'down',
    seenBy: 'prometheus',
    metric: 'up',
    event: 'cannot start`, `uncaught error: closing`, `killed by timeout',
  },
} as const satisfies Record<string, ProblemType>

export type ProblemCode = keyof typeof problemCatalogue

/** Returns the path of a problem's page or section, from the root of the repository. */
export function helpOf(code: ProblemCode): string {
  const { section }: ProblemType = problemCatalogue[code]
  return section
    ? `docs/operations/problems.md#${code}`
    : `docs/operations/${code.replaceAll('_', '-')}.md`
}

/** Problems that follow from others, so they say least about what to do. */
const consequences: ReadonlySet<string> = new Set([
  'backlog',
  'watermark',
  'insert_stalled',
  'counts_late',
  'alerts_late',
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
