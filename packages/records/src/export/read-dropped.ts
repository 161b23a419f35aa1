import { isoTime } from '@intake/clickhouse'
import { kinds, type RecordKind } from '@intake/contract'
import { conditionOf, databaseOf, readAnalysts } from '@intake/schema'
import type { Dropped } from './manifest.ts'
import { inScope, paramsOf, type Source } from './read-records.ts'

/** A row of a run's report, with '' for all applications: these are dropped by whole months. */
const droppedRow = 'Tuple(kind String, bundleIdentifier String, before String)'
const monthEnd = "toString(addMonths(parseDateTimeBestEffort(concat(month, '01'), 'UTC'), 1))"
const droppedMonths = (kind: RecordKind) =>
  `arrayMap(month -> ('${kind}', '', ${monthEnd}), JSONExtract(report, '${kind}', 'Array(String)'))`

/** Reads up to when retention has dropped records, or a killed run has begun to drop them. */
export async function readDropped({ clickhouse, scope }: Source): Promise<Dropped[]> {
  const analysts = scope.database === 'intake' ? [] : await readAnalysts(clickhouse)
  const analyst = analysts.find((one) => databaseOf(one) === scope.database)
  const isVisible = `1 ${inScope(scope)} ${analyst ? `AND (${conditionOf(analyst)})` : ''}`
  const rows = await clickhouse.query<Dropped>(
    `SELECT row.1 AS kind, row.2 AS bundle_identifier, max(parseDateTimeBestEffort(row.3, 'UTC')) AS before
     FROM (SELECT report FROM intake.erasures WHERE kind = 'retention')
     ARRAY JOIN arrayConcat(JSONExtract(report, 'applications', 'Array(${droppedRow})'),
       ${kinds.map(droppedMonths).join(', ')}) AS row
     WHERE kind IN {kinds:Array(String)} AND (bundle_identifier = '' OR (${isVisible}))
     GROUP BY kind, bundle_identifier ORDER BY kind, bundle_identifier`,
    paramsOf(scope, {}),
  )
  return rows.map(({ before, ...of }) => ({ ...of, before: isoTime(`${before}.000`) }))
}
