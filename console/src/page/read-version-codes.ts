import { querySettings, type RecordReader } from './records.ts'

export interface VersionCode {
  code: string
  events: number
}

/** Reads the eight highest version codes in the catalogue of an application, highest first. */
export const readVersionCodes = (
  reader: RecordReader,
  application: string,
): Promise<VersionCode[]> =>
  reader.query<VersionCode>(
    `SELECT toString(version_code) AS code, sum(catalogue.records) AS events
     FROM intake.catalogue AS catalogue
     WHERE bundle_identifier = {application:String} AND param = '' AND version_code IS NOT NULL
     GROUP BY version_code ORDER BY version_code DESC LIMIT 8 ${querySettings}`,
    { application },
  )
