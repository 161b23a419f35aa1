import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parse } from 'yaml'
import { helpOf, problemCatalogue } from '../../packages/health/dist/problem-catalogue.js'

/** For each state, a metric that shows more than `intake_problem` does, such as an amount. */
const metrics = {
  redis_connection: 'intake_records_shed_total{code="queue_unavailable"}',
  queue_full: 'intake_redis_memory_used_bytes',
  keys_full: 'intake_reservations_held',
  clock_skew: 'intake_clock_skew_seconds',
  overloaded: 'intake_body_bytes_in_flight',
  object_store: 'intake_object_store_errors_total',
  request_refused: 'intake_requests_refused_total{code="internal_error"}',
  insert_retry: 'intake_insert_failures_total{failure="retry"}',
  insert_stalled: 'intake_insert_in_progress_seconds',
  insert_operator: 'intake_insert_failures_total{failure="operator"}',
  insert_split: 'intake_insert_failures_total{failure="split"}',
  insert_rejected: 'intake_insert_failures_total{failure="rejected"}',
  rows_refused: 'intake_frames_postponed_total',
  frame_postponed: 'intake_backlog_frames{state="delayed"}',
  frame_unreadable: 'intake_frames_unreadable_total',
  dead_letters: 'intake_dead_letters_waiting',
  locks_lost: 'intake_frame_locks_lost_total',
  backlog: 'intake_backlog_oldest_age_seconds',
  queue_paused: 'intake_backlog_rows',
  watermark: 'intake_watermark_age_seconds',
  webhook_fails: 'intake_webhook_requests_total{outcome="failed"}',
  counts_late: 'intake_counted_age_seconds',
  process_ends: 'up',
  clickhouse_disk: 'ClickHouseAsyncMetrics_DiskAvailable_default',
}
/**
 * The log lines of states that are events. A line is logged at every such event. All other states
 * are logged when they begin and when they end.
 */
const eventLines = {
  overloaded: 'requests refused',
  request_refused: 'unexpected error',
  locks_lost: 'locks lost: another worker may store the same rows again',
  webhook_fails: 'a webhook request failed; it will be repeated',
  counts_late: 'the events could not be counted',
  process_ends: 'cannot start`, `uncaught error: closing`, `killed by timeout',
}
/**
 * States that `intake doctor` detects early. Each can later cause the listed other states while
 * Intake runs.
 */
const shownAs = {
  redis_version: ['redis_connection'],
  redis_memory: ['redis_could_lose_records', 'queue_full'],
  clickhouse_version: ['insert_operator'],
  clickhouse_schema: ['insert_operator'],
  clickhouse_settings: ['insert_retry', 'insert_operator'],
  clickhouse_disk: ['insert_operator'],
  configuration: ['process_ends'],
}

const rules = readFileSync(
  new URL('../../deploy/observability/alerts.yml', import.meta.url),
  'utf8',
)
const alerts = parse(rules).groups.flatMap((group) => group.rules)

function row([code, { title, state }]) {
  const alert = alerts.find(({ labels }) => labels.code === code)
  const isReported = alert?.expr.includes('intake_problem{') ?? false
  const status = isReported ? `\`${state}\`` : '–'
  const level = state === 'down' ? 'error' : 'warn'
  const line = eventLines[code] ?? (isReported ? title : undefined)
  const later = shownAs[code]?.map((other) => `[${other}](${basename(helpOf(other))})`)
  const cells = [
    `[\`${code}\`](${basename(helpOf(code))})`,
    metrics[code] ? `\`${metrics[code]}\`` : '–',
    alert ? `\`${alert.alert}\` (${alert.labels.severity})` : '–',
    status,
    [
      line && `\`${line}\`${eventLines[code] ? '' : ` (${level})`}`,
      later && `later as ${later.join(' or ')}`,
    ]
      .filter(Boolean)
      .join('; '),
  ]
  return `| ${cells.join(' | ')} |`
}

/** The table of all states and where each is visible, without its heading. */
export function statesTable() {
  return `| State | Metric beside \`intake_problem{code}\` | Alert | \`/status\` | Log line |
| --- | --- | --- | --- | --- |
${Object.entries(problemCatalogue).map(row).join('\n')}`
}
