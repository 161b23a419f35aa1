export interface BenchQuery {
  name: string
  /** With the parameters `app`, `from`, `to` and those of the lookups. */
  sql: string
}

const range = `bundle_identifier = {app:String} AND time >= {from:DateTime64(3)} AND time < {to:DateTime64(3)}`
const numeric = (param: string) => `toFloat64OrNull(toString(params.${param}))`

/** What analysts ask about one application and 30 days, and two questions about everything. */
export const cookbook: readonly BenchQuery[] = [
  { name: 'count of everything', sql: 'SELECT count() FROM intake.logs' },
  {
    name: 'active devices per day',
    sql: `SELECT toDate(time) AS day, uniqExact(device_uuid) AS devices FROM intake.logs
WHERE ${range} GROUP BY day ORDER BY day`,
  },
  {
    name: 'daily volume by event',
    sql: `SELECT toDate(time) AS day, event, count() AS events FROM intake.logs
WHERE ${range} GROUP BY day, event ORDER BY day, event`,
  },
  {
    name: 'volume by application and week',
    sql: `SELECT bundle_identifier, toStartOfWeek(time) AS week, count() AS events FROM intake.logs
GROUP BY ALL ORDER BY ALL`,
  },
  {
    name: 'funnel',
    sql: `SELECT level, count() AS devices FROM (
  SELECT device_uuid, windowFunnel(1800)(toDateTime(time), event = 'app_start', event = 'search',
    event = 'purchase_completed') AS level
  FROM intake.logs WHERE ${range} GROUP BY device_uuid
) GROUP BY level ORDER BY level`,
  },
  {
    name: 'weekly retention',
    sql: `SELECT first, dateDiff('week', first, week) AS weeks, uniqExact(device_uuid) AS devices FROM (
  SELECT device_uuid, toStartOfWeek(time) AS week, min(week) OVER (PARTITION BY device_uuid) AS first
  FROM intake.logs WHERE ${range} GROUP BY device_uuid, week
) GROUP BY ALL ORDER BY ALL`,
  },
  {
    name: 'crash-free sessions by version',
    sql: `SELECT version, countIf(crashes = 0) / count() AS crash_free FROM (
  SELECT params.session_id.:String AS session, any(device.version_name) AS version, countIf(event = 'crash') AS crashes
  FROM intake.logs WHERE ${range} GROUP BY session
) GROUP BY version ORDER BY version`,
  },
  {
    name: 'top screens',
    sql: `SELECT params.screen.:String AS screen, count() AS views, uniqExact(device_uuid) AS devices FROM intake.logs
WHERE ${range} AND event = 'screen_view' GROUP BY screen ORDER BY views DESC LIMIT 20`,
  },
  {
    name: 'p95 of a number by path',
    sql: `SELECT params.path.:String AS path, quantile(0.95)(${numeric('duration_ms')}) AS p95 FROM intake.logs
WHERE ${range} AND event = 'api_call' GROUP BY path ORDER BY p95 DESC`,
  },
  {
    name: 'error rate by hour',
    sql: `SELECT toStartOfHour(time) AS hour, countIf(params.status.:Int64 >= 500) / count() AS errors FROM intake.logs
WHERE ${range} AND event = 'api_call' GROUP BY hour ORDER BY hour`,
  },
  {
    name: 'sessions by gap',
    sql: `SELECT toDate(started_at) AS day, count() AS sessions, avg(events) AS events FROM (
  SELECT device_uuid, number, min(time) AS started_at, count() AS events FROM (
    SELECT device_uuid, time, sum(is_new) OVER (PARTITION BY device_uuid ORDER BY time) AS number FROM (
      SELECT device_uuid, time,
        time > lagInFrame(time) OVER (PARTITION BY device_uuid ORDER BY time) + INTERVAL 30 MINUTE AS is_new
      FROM intake.logs WHERE ${range}
    )
  ) GROUP BY device_uuid, number
) GROUP BY day ORDER BY day`,
  },
  {
    name: 'adoption of versions',
    sql: `SELECT toDate(time) AS day, device.version_name AS version, uniqExact(device_uuid) AS devices
FROM intake.logs WHERE ${range} GROUP BY day, version ORDER BY day, version`,
  },
  {
    name: 'battery against crashes',
    sql: `SELECT round(device.battery_level, 1) AS battery, countIf(event = 'crash') / count() AS crashes
FROM intake.logs WHERE ${range} GROUP BY battery ORDER BY battery`,
  },
  {
    name: 'crashes by model and system',
    sql: `SELECT device.device_model AS model, device.android_version AS system, count() AS crashes
FROM intake.logs WHERE ${range} AND event = 'crash' GROUP BY model, system ORDER BY crashes DESC LIMIT 20`,
  },
  {
    name: 'late events',
    sql: `SELECT toDate(received_at) AS day, quantiles(0.5, 0.9, 0.99)(dateDiff('second', time, received_at)) AS seconds
FROM intake.logs WHERE ${range} GROUP BY day ORDER BY day`,
  },
  {
    name: 'clock skew',
    sql: `SELECT device.device_model AS model, quantile(0.95)(abs(dateDiff('second', time, client_timestamp))) AS skew
FROM intake.logs WHERE ${range} GROUP BY model ORDER BY skew DESC LIMIT 20`,
  },
  {
    name: 'numbers with mixed types',
    sql: `SELECT dynamicType(params.duration_ms) AS type, count() AS events, avg(${numeric('duration_ms')}) AS mean
FROM intake.logs WHERE ${range} GROUP BY type`,
  },
  {
    name: 'what one API key sent',
    sql: `SELECT toDate(received_at) AS day, count() AS events, uniqExact(unique_user_id) AS users FROM intake.logs
WHERE ${range} AND api_key_id = 'key_3' GROUP BY day ORDER BY day`,
  },
  {
    name: 'the last hundred events of an application',
    sql: `SELECT * FROM intake.logs WHERE ${range} ORDER BY time DESC LIMIT 100`,
  },
  {
    name: 'unknown device fields',
    sql: `SELECT device_extra.carrier.:String AS carrier, uniqExact(device_uuid) AS devices FROM intake.logs
WHERE ${range} GROUP BY carrier ORDER BY devices DESC`,
  },
]

/** Finding few records among all, without application or period. */
export const lookups: readonly BenchQuery[] = [
  { name: 'by id', sql: 'SELECT * FROM intake.logs WHERE id = {id:UUID}' },
  {
    name: 'by device',
    sql: 'SELECT time, event, params FROM intake.logs WHERE device_uuid = {device:UUID} ORDER BY time',
  },
  {
    name: 'by user',
    sql: 'SELECT time, event, params FROM intake.logs WHERE unique_user_id = {user:String} ORDER BY time',
  },
  { name: 'by request_id', sql: 'SELECT * FROM intake.logs WHERE request_id = {request:UUID}' },
  {
    name: 'feedback with the last 50 events of its device',
    sql: `SELECT time, event, params FROM intake.logs
WHERE device_uuid = (SELECT device_uuid FROM intake.feedback WHERE id = {feedback:UUID})
ORDER BY time DESC LIMIT 50`,
  },
]
