import { cutName, newestOf, ofApplication, readPage } from './records.ts'
import type { NumberedPage, RecordReader } from './records.ts'

export interface CatalogueEntry {
  event: string
  /** The name of the param; empty for the event itself. */
  param: string
  types: string
  records: number
  devices: number
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
  entries: NumberedPage<CatalogueEntry>
  /** Changes from one version to the next. The changes in the newest version come first. */
  drift: NumberedPage<DriftEntry>
  warnings: NumberedPage<WarningEntry>
}

export async function readCatalogue(
  reader: RecordReader,
  application: string,
  pages: Record<keyof Catalogue, number>,
): Promise<Catalogue> {
  const read = <Row>(name: keyof Catalogue, sql: string) =>
    readPage<Row>(reader, pages[name], sql, { application })
  const [entries, drift, warnings] = await Promise.all([
    read<CatalogueEntry>(
      'entries',
      `SELECT event, ${cutName('param')} AS param, arrayStringConcat(arraySort(groupUniqArray(type)), ', ') AS types,
         sum(catalogue.records) AS records, max(catalogue.devices) AS devices,
         max(catalogue.last_seen) AS last_seen,
         ${newestOf('groupUniqArray((version_code, version_name))')} AS newest_version
       FROM intake.catalogue AS catalogue WHERE ${ofApplication(application)}
       GROUP BY event, param ORDER BY event, param`,
    ),
    read<DriftEntry>(
      'drift',
      `SELECT ${cutName('version_from')} AS version_from, ${cutName('version_to')} AS version_to, event,
         ${cutName('param')} AS param, change, before, after
       FROM intake.drift AS drift WHERE ${ofApplication(application)}
       ORDER BY versions_ago, event, param`,
    ),
    read<WarningEntry>(
      'warnings',
      `SELECT warning, event, ${cutName('path')} AS path, ${cutName('version_name')} AS version_name, records, last_seen, example
       FROM intake.warnings WHERE ${ofApplication(application)}
       ORDER BY records DESC, warning, event, path, version_name`,
    ),
  ])
  return { entries, drift, warnings }
}

export interface VersionCode {
  code: string
  /** The name of the version; empty if it was not sent. */
  name: string
  events: number
}

export const readVersionCodes = (reader: RecordReader, application: string) =>
  reader.query<VersionCode>(
    `SELECT toString(version_code) AS code,
       ${cutName('argMax(version_name, catalogue.last_seen)')} AS name, sum(catalogue.records) AS events
     FROM intake.catalogue AS catalogue
     WHERE ${ofApplication(application)} AND param = '' AND version_code IS NOT NULL
     GROUP BY version_code ORDER BY version_code DESC LIMIT 8`,
    { application },
  )
