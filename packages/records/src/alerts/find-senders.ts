import type { ClickHouse } from '@intake/clickhouse'
import { arrivedInWindow, querySettings, windowParams } from './question.ts'

/** An application has the API keys with which it sent events in the last day. */
const keyMinutes = 24 * 60

/** Resolves to those of the applications that have one of the API keys. */
export async function findSenders(
  reader: Pick<ClickHouse, 'query'>,
  { bundles, apiKeyIds }: { bundles: readonly string[]; apiKeyIds: readonly string[] },
  toMs: number,
): Promise<ReadonlySet<string>> {
  const rows = await reader.query<{ bundle_identifier: string }>(
    `SELECT DISTINCT bundle_identifier FROM intake.logs
     WHERE ${arrivedInWindow} AND api_key_id IN {keys:Array(String)} ${querySettings}`,
    { applications: bundles, keys: apiKeyIds, ...windowParams(keyMinutes, toMs) },
  )
  return new Set(rows.map((row) => row.bundle_identifier))
}
