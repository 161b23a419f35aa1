import { until } from '@intake/test-kit/until'
import type { Cluster } from './cluster.ts'
import { outcomeFramesLeft } from './observe.ts'
import type { Violations } from './violations.ts'

/** Counts of one API key, kind and minute. */
interface Minute {
  api_key_id: string
  kind: string
  minute: string
  /**
   * The number of attempts whose record is in a raw table or a dead letter. Merges are off (see
   * cluster.ts), so the raw tables have a row for every attempt.
   */
  stored: number
  accepted: number
  /**
   * The number of attempts whose record may or may not be stored, in all minutes together. Such an
   * attempt is counted in the minute of its refusal (perhaps by another clock), but the
   * `received_at` of its record may be in another minute.
   */
  unknown: number
}

/**
 * A kill may lose counts that are younger than this: the interval between two reports, plus an
 * outage of Redis.
 */
const lostMs = 120_000

const attempts = (kind: string) => `SELECT api_key_id, '${kind}' AS kind, received_at,
    toString(id) AS id, toString(device_uuid) AS device, toString(request_id) AS request
  FROM intake.${kind}_raw`

const deadLetters = `SELECT JSONExtractString(row, 'api_key_id') AS api_key_id, table AS kind,
    parseDateTime64BestEffort(JSONExtractString(row, 'received_at'), 3, 'UTC') AS received_at,
    JSONExtractString(row, 'id') AS id, JSONExtractString(row, 'device_uuid') AS device,
    JSONExtractString(row, 'request_id') AS request
  FROM intake.dead_letters WHERE isValidJSON(row)`

const compared = `SELECT api_key_id, kind, toString(minute) AS minute,
  sum(s) AS stored, sum(a) AS accepted, sum(sum(u)) OVER (PARTITION BY api_key_id, kind) AS unknown
FROM (
  SELECT api_key_id, kind, toStartOfMinute(received_at) AS minute,
    uniqExact(id, device, request) AS s, 0 AS a, 0 AS u
  FROM (${attempts('logs')} UNION ALL ${attempts('feedback')} UNION ALL ${deadLetters})
  WHERE api_key_id LIKE 'key\\_%' AND api_key_id != 'key_faults'
  GROUP BY ALL
  UNION ALL
  SELECT api_key_id, kind, minute, 0, records, 0 FROM intake.outcomes WHERE code = 'accepted'
  UNION ALL
  SELECT api_key_id, kind, minute, 0, 0, records FROM intake.outcomes
  WHERE code IN ('outcome_unknown', 'internal_error')
)
GROUP BY ALL`

/**
 * Ends the gateways, so that they send their last counts. Then compares `intake.outcomes` with the
 * stored records, for every API key, kind and minute. Every record that is counted as accepted must
 * be stored. Every stored record must be counted as accepted or as
 * unknown. Only counts of a killed gateway that it had not yet reported may be missing.
 */
export async function checkOutcomes(cluster: Cluster, violations: Violations): Promise<void> {
  await Promise.all(cluster.gateways.map((one) => one.terminate()))
  let left = Infinity
  await until(
    'the counts of outcomes are stored',
    async () => (left = await outcomeFramesLeft(cluster.keys)) === 0,
    { progress: () => left },
  ).catch((error: Error) => violations.add('outcomes not stored', error.message))
  const kills = cluster.gateways.flatMap(({ killedAtMs }) => killedAtMs)
  for (const one of await cluster.sql.query<Minute>(compared)) {
    const { api_key_id: key, kind, minute, stored, accepted, unknown } = one
    const where = `${key} ${kind} ${minute}: ${stored} stored, ${accepted} accepted, ${unknown} unknown`
    if (accepted > stored) violations.add('counted as accepted, but not stored', where)
    const startMs = Date.parse(`${minute}Z`)
    const isCertain = kills.every((ms) => startMs > ms || startMs + 60_000 < ms - lostMs)
    if (isCertain && stored > accepted + unknown) violations.add('stored, but not counted', where)
  }
}
