import type { CountReader } from './count-reader.ts'
import { whereOf } from './list-records.ts'
import { sumOf } from './numbers.ts'
import { startsOf, stepOf, type Steps } from './period.ts'
import { readVersions, type NameCount } from './read-counts.ts'
import { cutName } from './records.ts'
import type { Search } from './search.ts'
import { unlessClickHouseFails } from './without-clickhouse.ts'

export interface FeedbackFacets {
  total: number
  withPictures: number
  withEmail: number
  points: { t: number; feedback: number }[]
  /** `perHundred` is per 100 devices that sent an event; undefined if none was counted. */
  versions: (NameCount & { perHundred: number | undefined })[]
  applications: NameCount[]
  /** The most frequent values of fields that clients have added; `name` is their path in `extra`. */
  fields: (NameCount & { value: string })[]
}

const fieldsMax = 12
/** Longer names and values are not offered. */
const fieldBytesMax = 60

type Facet = 'step' | 'version' | 'application' | 'pictures' | 'email'

export async function readFeedbackFacets(
  reader: CountReader,
  search: Search,
  steps: Steps,
): Promise<FeedbackFacets> {
  const { where, params } = whereOf(search, steps)
  const [rows, fields = []] = await Promise.all([
    reader.query<{ facet: Facet; name: string; count: number }>(
      `SELECT pair.1 AS facet, pair.2 AS name, count() AS count FROM intake.feedback
       ARRAY JOIN [
         ('step', toString(${stepOf('time', steps)})),
         ('version', toString(${cutName("ifNull(device.version_name, '')")})),
         ('application', toString(bundle_identifier)),
         ('pictures', if(attachment_count > 0, '1', '0')),
         ('email', if(email IS NULL, '0', '1'))] AS pair
       WHERE ${where}
       GROUP BY facet, name ORDER BY facet, count DESC, name LIMIT 80 BY facet`,
      params,
    ),
    unlessClickHouseFails(readFields(reader, search, { where, params })),
  ])
  const of = (facet: Facet) => rows.filter((row) => row.facet === facet)
  const versions = of('version').slice(0, 6)
  const devices = await readVersions(
    reader,
    steps,
    search.application,
    versions.map(({ name }) => name),
  )
  const countOf = (facet: Facet, name: string) =>
    of(facet).find((row) => row.name === name)?.count ?? 0
  const points = startsOf(steps).map((t) => ({ t, feedback: countOf('step', String(t / 1_000)) }))
  const devicesOf = new Map(devices.map(({ name, count }) => [name, count]))
  return {
    total: sumOf(points, ({ feedback }) => feedback),
    withPictures: countOf('pictures', '1'),
    withEmail: countOf('email', '1'),
    points,
    versions: versions.map(({ name, count }) => {
      const sent = devicesOf.get(name)
      return { name, count, perHundred: sent ? (100 * count) / sent : undefined }
    }),
    applications: of('application').slice(0, 6),
    fields,
  }
}

/** Fields are kept in `extra`, those beside the text in its `feedback`, and text parts in `form`. */
async function readFields(
  reader: CountReader,
  { paths = {} }: Search,
  { where, params }: ReturnType<typeof whereOf>,
): Promise<FeedbackFacets['fields']> {
  const inner = ['feedback', 'form'].map(
    (name) =>
      `arrayMap(one -> (concat('${name}.', one.1), one.2),
         JSONExtractKeysAndValuesRaw(toJSONString(extra), '${name}'))`,
  )
  const rows = await reader.query<FeedbackFacets['fields'][number]>(
    `SELECT pair.1 AS name, count() AS count,
       if(startsWith(pair.2, '"'), JSONExtractString(pair.2), pair.2) AS value
     FROM intake.feedback ARRAY JOIN arrayConcat(
       JSONExtractKeysAndValuesRaw(toJSONString(extra)), ${inner.join(', ')}) AS pair
     WHERE ${where} AND match(name, '^((feedback|form)\\.)?[^.]+$') AND name != 'feedback.timestamp'
       AND length(name) <= ${fieldBytesMax} AND length(value) BETWEEN 1 AND ${fieldBytesMax}
       AND NOT match(pair.2, '^[{[]')
     GROUP BY name, value HAVING count > 1 ORDER BY count DESC, name, value LIMIT ${fieldsMax}`,
    params,
  )
  return rows.filter(({ name }) => paths[`extra.${name}`] === undefined)
}
