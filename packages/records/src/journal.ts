import { insertLines, isoTime, sqlTime, type ClickHouse } from '@intake/clickhouse'

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

/** Where entries wait as rows, oldest first. */
interface WaitingRows {
  peek(max: number): Promise<string[]>
  remove(rows: readonly string[]): Promise<void>
}

const rowsPerInsert = 200

/** A row may be stored twice, if it is interrupted or two processes do it; it counts once. */
export async function moveToJournal(options: {
  waiting: WaitingRows
  store: Pick<ClickHouse, 'insertRows'>
  signal?: AbortSignal | undefined
}): Promise<void> {
  const { waiting, store, signal } = options
  for (;;) {
    const rows = await waiting.peek(rowsPerInsert)
    if (rows.length === 0) return
    await insertLines(store, { table: 'journal', lines: rows, signal })
    await waiting.remove(rows)
  }
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
