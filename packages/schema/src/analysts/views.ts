import { deviceFields } from '@intake/contract'
import type { Definition } from '../definitions/definition.ts'
import { noRules, rulesOfGaps } from '../definitions/devices.ts'
import { localName, toLocal } from '../cluster/statements.ts'
import { allDefinitions } from '../definitions/index.ts'
import { plainColumns } from '../definitions/plain-device.ts'
import { rowsDatabaseOf, type Analyst } from './analyst.ts'

/**
 * The views of an analyst, each with the columns of records that it cannot do without. There are no
 * dead letters, which have whole rows, and no outcomes, which belong to keys and not to
 * applications.
 */
const views: Readonly<Record<string, readonly string[]>> = {
  logs: [],
  feedback: [],
  logs_flat: [],
  feedback_flat: [],
  devices: [],
  devices_flat: [],
  sessions: [],
  gaps: ['extra'],
  recent: ['text'],
  crashes: ['params'],
  deletions: [],
  hours: [],
  device_hours: [],
  catalogue: ['params'],
  drift: ['params'],
  warnings: ['params'],
  watermark: [],
  counted: [],
}

/** The columns of views that are computed from a column of records with another name. */
const sources: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(plainColumns(deviceFields)).map((name) => [name, 'device'])),
  attachment_count: 'attachments',
}

/**
 * Each selects from the view of all analysts. ClickHouse does not read what nobody selects. On a
 * cluster there is no `deletions`, because the rows of the shards are without deleted ones.
 */
export function viewsOf(analyst: Analyst, cluster?: string): Definition[] {
  const { without, pseudonyms } = analyst
  const isLeftOut = (column: string) =>
    without.includes(sources[column] ?? column) ||
    // The state of devices would tell if it has the device with a known UUID.
    (column === 'devices_state' && pseudonyms.includes('device_uuid'))
  return allDefinitions.flatMap(({ name, comment, columns: all, select }) => {
    const needed = views[name]
    if (select === undefined || needed === undefined || needed.some(isLeftOut)) return []
    if (name === 'deletions' && cluster !== undefined) return []
    const columns = Object.fromEntries(Object.entries(all).filter(([column]) => !isLeftOut(column)))
    const whole = select.replace(rulesOfGaps, noRules)
    const rows = cluster === undefined ? whole : fromShards(whole, analyst)
    return [{ name, comment, columns, select: selectOf(rows, Object.keys(columns), analyst) }]
  })
}

/**
 * The tables with the rows of an analyst on a cluster. Other servers read each through a view of
 * the server with the rows, so the policies of its definer apply there.
 */
export function rowTablesOf(analyst: Analyst, cluster?: string) {
  if (cluster === undefined) return []
  const database = rowsDatabaseOf(analyst)
  return (['logs_raw', 'feedback_raw', 'attachments_raw'] as const).map((name) => ({
    table: `${database}.${name}`,
    engine: `Distributed('${cluster}', '${database}', '${localName(name)}')`,
    view: `${database}.${localName(name)}`,
    select: `SELECT * FROM ${toLocal(`intake.${name}`)} FINAL`,
  }))
}

const fromShards = (select: string, analyst: Analyst) =>
  select.replaceAll(
    /\bintake\.((?:logs|feedback|attachments)_raw(?: AS \w+)?) FINAL\b/g,
    `${rowsDatabaseOf(analyst)}.$1`,
  )

function selectOf(inner: string, columns: readonly string[], { pseudonyms }: Analyst): string {
  const isReplaced = (column: string) => pseudonyms.includes(column)
  const shown = columns.map(
    (column) => `${isReplaced(column) ? pseudonym(column) : `shown.${column}`} AS ${column}`,
  )
  const from = `SELECT ${shown.join(', ')}
FROM (
${inner}
) AS shown`
  return columns.some(isReplaced) ? `${from}\n${withKey}` : from
}

/** A scalar subquery would be a constant, which EXPLAIN prints to every reader of the view. */
const withKey = `CROSS JOIN (SELECT secret FROM intake.pseudonym_key ORDER BY created_at, secret LIMIT 1) AS keyed`

function pseudonym(column: string): string {
  const hash = `SHA256(concat(keyed.secret, toString(shown.${column})))`
  return column === 'device_uuid'
    ? `reinterpretAsUUID(substring(${hash}, 1, 16))`
    : `lower(hex(${hash}))`
}
