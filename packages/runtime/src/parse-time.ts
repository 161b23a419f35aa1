export const timeForm =
  'a time that exists, like 2026-11-23, 2026-11-23T10:00 or 2026-11-23 10:00:15.250; UTC unless it ends with an offset like +01:00'

const form =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d(?:\.\d{1,3})?))?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?$/

/**
 * Reads a time as a person writes it, or as Intake and ClickHouse print it; UTC without an offset,
 * a date as midnight. Undefined if it has another form, is before 1970, or does not exist: `Date`
 * would read 30 February as 2 March.
 */
export function parseTime(text: string): Date | undefined {
  const [, date, minutes = '00:00', seconds = '00', offset = 'Z'] = form.exec(text) ?? []
  if (date === undefined) return undefined
  const written = `${date}T${minutes}:${seconds}`
  const asUtc = new Date(`${written}Z`)
  if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(written)) return undefined
  const time = new Date(written + offset)
  return time.getTime() >= 0 ? time : undefined
}
