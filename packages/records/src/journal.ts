import { randomUUID } from 'node:crypto'
import { sqlTime, type ClickHouse } from '@intake/clickhouse'

/** An entry of `intake.journal`: what an operator has changed. */
export interface JournalEntry {
  at: Date
  who: string
  action: 'rule-added' | 'rule-removed'
  /** The id of what was changed. */
  subject: string
  detail: object
}

export async function noteInJournal(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  { at, who, action, subject, detail }: JournalEntry,
): Promise<void> {
  await clickhouse.insertSelect(
    `INSERT INTO intake.journal (id, at, who, action, subject, detail)
     SELECT {id:UUID}, {at:DateTime64(3, 'UTC')}, {who:String}, {action:String}, {subject:String}, {detail:String}`,
    { id: randomUUID(), at: sqlTime(at), who, action, subject, detail: JSON.stringify(detail) },
  )
}
