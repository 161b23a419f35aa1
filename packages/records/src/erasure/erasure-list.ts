import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'

interface Erasure {
  /** UUID. */
  id: string
  kind: string
  subjectHash: string
  startedAt: Date
  /** Undefined while the erasure is unfinished. */
  finishedAt: Date | undefined
  /** JSON. */
  report: string
}

/** Adds an erasure to the journal, or replaces its entry. */
export async function noteErasure(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  erasure: Erasure,
): Promise<void> {
  const { subjectHash, startedAt, finishedAt, ...others } = erasure
  await clickhouse.insertSelect(
    `INSERT INTO intake.erasures (id, kind, subject_sha256, started_at, finished_at, report, ver)
     SELECT {id:UUID}, {kind:String}, {subject:String}, {started:DateTime64(3, 'UTC')},
       {finished:Nullable(DateTime64(3, 'UTC'))}, {report:String}, {ver:UInt64}`,
    {
      ...others,
      subject: subjectHash,
      started: sqlTime(startedAt),
      finished: finishedAt ? sqlTime(finishedAt) : null,
      ver: finishedAt?.getTime() ?? 0,
    },
  )
}

/**
 * Resolves to the time before which no tombstone has a payload left: when the last complete erasure
 * began. A day less, because the clocks of this machine and of ClickHouse may differ. What was
 * repeated later is left to `erasures apply`.
 */
export async function readErasedUntil(clickhouse: Pick<ClickHouse, 'query'>): Promise<Date> {
  const [row] = await clickhouse.query<{ ms: number }>(
    `SELECT toUnixTimestamp64Milli(least(max(started_at), now64(3, 'UTC'))) AS ms
     FROM intake.erasures FINAL WHERE finished_at IS NOT NULL AND kind != 'retention'`,
  )
  return new Date(Math.max(0, (row?.ms ?? 0) - dayMs))
}

export const listErasures = (
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<{ report: string }[]> =>
  clickhouse.query(
    `SELECT id, kind, subject_sha256, started_at, finished_at, report
     FROM intake.erasures FINAL ORDER BY started_at, id`,
  )
