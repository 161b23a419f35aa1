import { querySettings, type RecordReader } from './records.ts'

/** An event or param of an application, over all its versions. */
export interface CatalogueEntry {
  event: string
  /** The name of the param; empty for the event itself. */
  param: string
  types: string
  records: number
  devices: number
  first_seen: string
  last_seen: string
  newest_version: string
}

export interface DriftEntry {
  version_from: string
  version_to: string
  event: string
  param: string
  change: 'new' | 'gone' | 'type'
  before: string
  after: string
}

export interface WarningEntry {
  warning: string
  event: string
  path: string
  version_name: string
  records: number
  last_seen: string
  example: string
}

export interface Catalogue {
  entries: CatalogueEntry[]
  /** Differences between versions. Those between the newest versions come first. */
  drift: DriftEntry[]
  warnings: WarningEntry[]
}

const rowsMax = 200

/** Reads the events and params that an application sends, as workers last counted them. */
export async function readCatalogue(reader: RecordReader, application: string): Promise<Catalogue> {
  const read = <Row>(sql: string) =>
    reader.query<Row>(`${sql} LIMIT ${rowsMax} ${querySettings}`, { application })
  const ofApplication = 'bundle_identifier = {application:String}'
  const [entries, drift, warnings] = await Promise.all([
    read<CatalogueEntry>(
      `SELECT event, param, arrayStringConcat(arraySort(groupUniqArray(type)), ', ') AS types,
         sum(catalogue.records) AS records, max(catalogue.devices) AS devices,
         min(catalogue.first_seen) AS first_seen, max(catalogue.last_seen) AS last_seen,
         argMax(version_name, (ifNull(version_code, 0), catalogue.last_seen)) AS newest_version
       FROM intake.catalogue AS catalogue WHERE ${ofApplication}
       GROUP BY event, param ORDER BY event, param`,
    ),
    read<DriftEntry>(
      `SELECT toString(version_from) AS version_from, toString(version_to) AS version_to, event, param, change, before, after
       FROM intake.drift AS drift WHERE ${ofApplication}
       ORDER BY drift.version_to DESC, event, param`,
    ),
    read<WarningEntry>(
      `SELECT warning, event, path, version_name, records, last_seen, example
       FROM intake.warnings WHERE ${ofApplication} ORDER BY records DESC, warning, event, path`,
    ),
  ])
  return { entries, drift, warnings }
}
