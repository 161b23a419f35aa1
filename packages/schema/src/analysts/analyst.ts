import { quote } from '../definitions/definition.ts'

/** An analyst who sees some applications only, and of these not every column. */
export interface Analyst {
  name: string
  /** Bundle identifiers, or beginnings such as `com.example.*`. */
  bundles: readonly string[]
  /** Columns of records that are left out. */
  without: readonly string[]
  /** Columns of records that are replaced by a keyed hash. */
  pseudonyms: readonly string[]
  /** SHA-256 of the password, as hexadecimal digits. */
  passwordSha256: string
}

/** The columns that may be left out. Without one of the others, rows have no identity or no use. */
export const removable = [
  'unique_user_id',
  'email',
  'text',
  'params',
  'attachments',
  'device',
  'device_extra',
  'extra',
  'country',
  'client_timestamp',
  'api_key_id',
  'request_id',
  'feedback_id',
] as const

export const replaceable = ['unique_user_id', 'device_uuid', 'email'] as const

/** `intake_dbt` is the database of deploy/clickhouse/dbt.xml. */
export const analystName = /^(?!dbt$)[a-z][a-z0-9_]{0,30}$/

/** The database with the views of an analyst. It is also the name of the analyst's user. */
export const databaseOf = ({ name }: Pick<Analyst, 'name'>): string => `intake_${name}`

/**
 * On a cluster, the database with the rows of the analyst, which nobody but the definer reads. The
 * capital letters keep it apart from the databases of other analysts.
 */
export const rowsDatabaseOf = (analyst: Pick<Analyst, 'name'>): string =>
  `${databaseOf(analyst)}_ROWS`

export const databasesOf = (analyst: Pick<Analyst, 'name'>, cluster?: string): string[] =>
  cluster === undefined ? [databaseOf(analyst)] : [rowsDatabaseOf(analyst), databaseOf(analyst)]

/**
 * The user with whose rights the views read. Nobody can log in as this user: no password has the
 * hash, and no address is allowed. It has a hyphen, so it is never the user of another analyst.
 */
export const definerOf = ({ name }: Pick<Analyst, 'name'>): string => `intake_${name}-definer`

export function conditionOf({ bundles }: Pick<Analyst, 'bundles'>): string {
  const whole = bundles.filter((bundle) => !bundle.endsWith('.*'))
  const beginnings = bundles.filter((bundle) => bundle.endsWith('.*'))
  return [
    ...(whole.length === 0
      ? []
      : [`bundle_identifier IN (${whole.map((bundle) => quote(bundle)).join(', ')})`]),
    ...beginnings.map((bundle) => `startsWith(bundle_identifier, ${quote(bundle.slice(0, -1))})`),
  ].join(' OR ')
}
