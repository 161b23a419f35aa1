export const timeForm =
  'a time that exists, like 2026-11-23, 2026-11-23T10:00 or 2026-11-23 10:00:15.250; UTC unless it ends with an offset like +01:00'

const form =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d(?:\.\d{1,3})?))?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?$/

/**
 * Reads a time as a person writes it, or as Intake and ClickHouse print it. Without an offset it is
 * UTC, regardless of the machine's zone. A date without a time is read as midnight. Returns
 * undefined if the text has another form, if the time is before 1970, or if the time does not
 * exist. (30 February, for example, does not exist, but `Date` would read it as 2 March.)
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
