import { isoTime, sqlTime, type ClickHouse } from '@intake/clickhouse'

export interface StoredEntry {
  id: string
  /** ISO 8601, UTC. */
  at: string
  who: string
  action: string
  subject: string
  /** JSON. */
  detail: string
}

/** Lists the entries since a time, oldest first. */
export async function readJournal(
  clickhouse: Pick<ClickHouse, 'query'>,
  since: Date,
): Promise<StoredEntry[]> {
  const entries = await clickhouse.query<StoredEntry>(
    `SELECT id, at, who, action, subject, detail FROM intake.journal FINAL
     WHERE at >= {since:DateTime64(3, 'UTC')} ORDER BY at, id`,
    { since: sqlTime(since) },
  )
  return entries.map((entry) => ({ ...entry, at: isoTime(entry.at) }))
}
