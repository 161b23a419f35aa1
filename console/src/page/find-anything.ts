import { selectInTurns } from '@intake/clickhouse'
import type { CountReader } from './count-reader.ts'
import { cutName, inMonth, ofApplication } from './records.ts'

/** What has a name that contains the searched text, with the number of its events in 30 days. */
export interface Match {
  kind: 'event' | 'param' | 'application' | 'user'
  application: string
  /** The name of the event, or of the event that has the param; empty for other kinds. */
  event: string
  name: string
  events: number
}

export interface Matches {
  found: Match[]
  /** The events with the most similar names, if nothing was found. */
  near: Match[]
}

export const perKindMax = 20
const nearMax = 5
/** A name with more different letters than this, or than half of the text, is not near. */
const distanceMax = 3
/** Names are compared letter by letter, which is dear for long ones. */
const nearLengthMax = 60

/** Searches names of events, params and applications for a text, and users for this whole name. */
export async function findAnything(
  readCounts: () => Promise<CountReader>,
  text: string,
  application: string | undefined,
): Promise<Matches> {
  if (text === '') return { found: [], near: [] }
  const counts = await readCounts()
  const where = ofApplication(application)
  const read = (sql: string, order = 'events DESC, application, name', rowsMax = perKindMax) => {
    const named = `SELECT *, application AS bundle_identifier FROM (${sql})`
    const turns = { application: 'application', owner: counts.owner }
    const inTurns = selectInTurns(named, { ...turns, order, rowsMax })
    return counts.query<Match>(inTurns, { text, application })
  }
  const names = `SELECT bundle_identifier, event AS one, sum(hours.events) AS number
    FROM ${counts.hours} AS hours WHERE ${inMonth} AND ${where} GROUP BY bundle_identifier, one`
  const ofUser = `time >= now('UTC') - INTERVAL 30 DAY AND unique_user_id = {text:String} AND ${where}`
  const contains = (column: string) => `positionCaseInsensitiveUTF8(${column}, {text:String}) > 0`
  const groups = await Promise.all([
    read(`SELECT 'event' AS kind, bundle_identifier AS application, ${cutName('one')} AS event,
        event AS name, number AS events
      FROM (${names}) WHERE ${contains('one')}`),
    read(`SELECT 'application' AS kind, bundle_identifier AS application, '' AS event,
        bundle_identifier AS name, sum(number) AS events
      FROM (${names}) WHERE ${contains('bundle_identifier')} GROUP BY application, name`),
    read(`SELECT 'param' AS kind, bundle_identifier AS application, ${cutName('one')} AS event,
        ${cutName('param')} AS name, sum(number) AS events
      FROM (
        SELECT bundle_identifier, event AS one, param, catalogue.records AS number
        FROM intake.catalogue AS catalogue
        WHERE param != '' AND ${where} AND ${contains('param')})
      GROUP BY application, event, name`),
    read(`SELECT 'user' AS kind, bundle_identifier AS application, '' AS event,
        {text:String} AS name, sum(number) AS events
      FROM (
        SELECT bundle_identifier, 1 AS number FROM intake.logs WHERE ${ofUser}
        UNION ALL SELECT bundle_identifier, 0 FROM intake.feedback WHERE ${ofUser})
      GROUP BY application`),
  ])
  const found = groups.flat()
  if (found.length > 0 || text.length > nearLengthMax) return { found, near: [] }
  const distance = 'damerauLevenshteinDistance(lower(one), lower({text:String}))'
  const near = await read(
    `SELECT 'event' AS kind, bundle_identifier AS application, one AS event, one AS name, number AS events
     FROM (${names})
     WHERE lengthUTF8(one) <= ${nearLengthMax}
       AND ${distance} <= least(${distanceMax}, intDiv(lengthUTF8({text:String}), 2))`,
    `${distance.replace('one', 'name')}, events DESC`,
    nearMax,
  )
  return { found, near }
}
