import { cutName, querySettings, type RecordReader } from './records.ts'

export interface VersionCode {
  code: string
  /** The name of the version; empty if it was not sent. */
  name: string
  events: number
}

/** Reads the eight highest version codes in the catalogue of an application, highest first. */
export const readVersionCodes = (
  reader: RecordReader,
  application: string,
): Promise<VersionCode[]> =>
  reader.query<VersionCode>(
    `SELECT toString(version_code) AS code,
       ${cutName('argMax(version_name, catalogue.last_seen)')} AS name, sum(catalogue.records) AS events
     FROM intake.catalogue AS catalogue
     WHERE bundle_identifier = {application:String} AND param = '' AND version_code IS NOT NULL
     GROUP BY version_code ORDER BY version_code DESC LIMIT 8 ${querySettings}`,
    { application },
  )
