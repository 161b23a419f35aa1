import { shardingKey, type Shards } from './shards.ts'

export interface ClusterLayout {
  /** The cluster's name in `remote_servers`. */
  cluster: string
  /** The user with whose rights views read the tables. */
  definer: string
  shards: Shards
}

/** The columns that identify a record: the sorting key of its table. */
export const identity = 'bundle_identifier, time, id, device_uuid'

/** Tables on the shards, by what identifies a row and the column with its time. */
const sharded: Readonly<Record<string, { key: string; time: string }>> = {
  logs_raw: { key: identity, time: 'time' },
  feedback_raw: { key: identity, time: 'time' },
  // A feedback and the facts about its pictures share a shard, so each server can join them.
  attachments_raw: { key: identity, time: 'time' },
  // The key omits `table`, so that a dead letter is on the shard of its record.
  dead_letters_raw: { key: identity, time: 'time' },
  outcomes_raw: { key: 'minute, api_key_id, kind, code, run', time: 'minute' },
}

/** Small tables that every server holds completely. */
const everywhere: ReadonlySet<string> = new Set([
  'schema_migrations',
  'installation',
  'erasures',
  'retention',
  'application_retention',
  'journal',
  'watermark_raw',
  'hours_raw',
  'days_raw',
  'counted_raw',
  'recounts_raw',
  'alerts_raw',
  'analysts',
  'pseudonym_key',
])

/** The table or view with only the rows of its server; the plain name has all. */
export const localName = (name: string): string => `${name}_local`
export const isSharded = (table: string): boolean => table in sharded

/** Makes SQL read the tables of one server. */
export const toLocal = (sql: string): string =>
  sql.replaceAll(/\bintake\.(\w+)/g, (whole, name: string) =>
    isSharded(name) ? `intake.${localName(name)}` : whole,
  )

/**
 * Whether a view shows single rows of a table on the shards, which have all their versions on one.
 * Each server can compute such a view alone, so conditions, sorting and aggregation run on the
 * shards. Any other view reads all shards.
 */
export const isRowView = (select: string): boolean =>
  !/\b(?:GROUP BY|UNION)\b/.test(select) && tablesOf(select).some(isSharded)

const tablesOf = (select: string): string[] =>
  [...select.matchAll(/\bintake\.(\w+)/g)].map(([, name = '']) => name)

/**
 * Tables with the same path in Keeper share their rows; paths have macros such as `{shard}`.
 * @throws {Error} on a statement whose form is not in `forms`
 */
export function clusterStatements(sql: string, layout: ClusterLayout): string[] {
  for (const [pattern, translate] of forms) {
    const match = pattern.exec(sql)
    if (match) return translate(match, layout)
  }
  throw new Error(`There is no form of this statement for a cluster: ${sql.slice(0, 80)}`)
}

type Form = [RegExp, (match: string[], layout: ClusterLayout) => string[]]

const forms: readonly Form[] = [
  [
    /^(CREATE DATABASE IF NOT EXISTS \w+|CREATE OR REPLACE FUNCTION \w+)([^]*)$/,
    ([, head = '', rest = ''], { cluster }) => [`${head} ON CLUSTER '${cluster}'${rest}`],
  ],
  [
    /^CREATE TABLE IF NOT EXISTS intake\.(\w+) (\([^]*\n\)\nENGINE = )(\w*MergeTree)(?:\(([^)]*)\))?([^]*)$/,
    ([, name = '', columns = '', engine = '', args, rest = ''], layout) => {
      const create = (stored: string, path: string, replica: string) =>
        `CREATE TABLE IF NOT EXISTS intake.${stored} ON CLUSTER '${layout.cluster}' ${columns}` +
        `Replicated${engine}('/clickhouse/tables/${path}/intake/${name}', '${replica}'${args ? `, ${args}` : ''})${rest}`
      if (everywhere.has(name)) return [create(name, 'all', '{shard}-{replica}')]
      if (!isSharded(name)) throw new Error(`It is not known where intake.${name} is in a cluster`)
      return [create(localName(name), '{shard}', '{replica}'), distributed(name, layout, false)]
    },
  ],
  [
    /^CREATE (OR REPLACE )?VIEW (IF NOT EXISTS )?intake\.(\w+) DEFINER = CURRENT_USER ([^]*)$/,
    ([, replace = '', absent = '', name = '', rest = ''], layout) => {
      const { cluster, definer } = layout
      const create = (view: string, query: string) =>
        `CREATE ${replace}VIEW ${absent}intake.${view} ON CLUSTER '${cluster}' DEFINER = \`${definer}\` ${query}`
      if (!isRowView(rest)) return [create(name, rest)]
      requireRowsOfShard(name, rest)
      return [create(localName(name), toLocal(rest)), distributed(name, layout, replace !== '')]
    },
  ],
  [
    /^ALTER TABLE intake\.(\w+)\s+(?=MODIFY COMMENT)([^]*)$/,
    ([, name = '', change = ''], { cluster }) => [alter(name, cluster, change)],
  ],
  [
    /^ALTER TABLE intake\.(\w+)\s+((?:ADD|DROP|MODIFY|MATERIALIZE) (?:COLUMN|INDEX|CONSTRAINT|SETTING)[^]*)$/,
    ([, name = '', change = ''], { cluster }) => [
      alter(isSharded(name) ? localName(name) : name, cluster, change),
      // A Distributed table has columns, but no sorting key, indexes, constraints or part settings.
      ...(isSharded(name) && /^\w+ COLUMN/.test(change)
        ? [alter(name, cluster, change.replace(/, MODIFY ORDER BY [^]*$/, ''))]
        : []),
    ],
  ],
]

/** Clauses, aggregate functions and subqueries, which need the rows of all shards. */
const notPerShard = new RegExp(
  [
    String.raw`\b(?:DISTINCT|LIMIT|OFFSET|FETCH|OVER|INTERSECT)\b`,
    String.raw`\b(?:count|sum|avg|min|max|any|uniq|arg|group|quantile|median|topK|first_value|last_value)\w*\s*\(`,
    String.raw`\(\s*SELECT\b`,
    String.raw`\bIN\s+intake\.`,
  ].join('|'),
  'i',
)

/** @throws {Error} if the servers of a cluster would not compute this row view correctly */
function requireRowsOfShard(name: string, select: string): void {
  const table = tablesOf(select).find((one) => !isSharded(one))
  if (table !== undefined) {
    throw new Error(
      `On a cluster, intake.${name} would show each row of intake.${table} once per shard: it needs GROUP BY`,
    )
  }
  const [part] = notPerShard.exec(select) ?? []
  if (part !== undefined) {
    throw new Error(
      `On a cluster, intake.${name} would compute "${part}" per shard: it needs GROUP BY`,
    )
  }
}

const alter = (table: string, cluster: string, change: string) =>
  `ALTER TABLE intake.${table} ON CLUSTER '${cluster}' ${change}`

/** A Distributed table reads local tables, or local views of single rows. */
function distributed(name: string, { cluster, shards }: ClusterLayout, replace: boolean): string {
  const place = sharded[name]
  const key = place === undefined ? '' : `, ${shardingKey(shards, place.key, place.time)}`
  const create = replace ? 'CREATE OR REPLACE TABLE' : 'CREATE TABLE IF NOT EXISTS'
  return (
    `${create} intake.${name} ON CLUSTER '${cluster}' AS intake.${localName(name)}\n` +
    `ENGINE = Distributed('${cluster}', 'intake', '${localName(name)}'${key})`
  )
}

export const reshardStatements = (layout: ClusterLayout): string[] =>
  Object.keys(sharded).map((name) => distributed(name, layout, true))
