import { sqlTime, type ClickHouse } from '@intake/clickhouse'

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
  const { id, kind, subjectHash, startedAt, finishedAt, report } = erasure
  await clickhouse.insertSelect(
    `INSERT INTO intake.erasures (id, kind, subject_sha256, started_at, finished_at, report, ver)
     SELECT {id:UUID}, {kind:String}, {subject:String}, {started:DateTime64(3, 'UTC')},
       {finished:Nullable(DateTime64(3, 'UTC'))}, {report:String}, {ver:UInt64}`,
    {
      id,
      kind,
      subject: subjectHash,
      started: sqlTime(startedAt),
      finished: finishedAt === undefined ? null : sqlTime(finishedAt),
      report,
      ver: finishedAt === undefined ? 0 : finishedAt.getTime(),
    },
  )
}

export const listErasures = (
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<{ report: string }[]> =>
  clickhouse.query(
    `SELECT id, kind, subject_sha256, started_at, finished_at, report
     FROM intake.erasures FINAL ORDER BY started_at, id`,
  )
