import { shiftUuid, timeOfUuid } from './uuid.ts'

const idAt = '{"id":"'.length
const idLength = 36

/**
 * Prints an event as JSON without its closing brace.
 *
 * @param params as JSON
 * @param deviceMs the device's time if it differs from the time in the id; otherwise 0
 */
export function printLine(id: string, event: string, params: string, deviceMs: number): string {
  const line = `{"id":"${id}","event":${JSON.stringify(event)},"params":${params}`
  return deviceMs === 0 ? line : line + printTimestamp(deviceMs)
}

/**
 * Adds the sequence number and the closing brace.
 *
 * @param sequence 0 if the event has none
 */
export const closeLine = (line: string, sequence: number): string =>
  sequence ? `${line},"sequence":${sequence}}` : `${line}}`

export const idOf = (line: string): string => line.slice(idAt, idAt + idLength)

/**
 * Returns the event with the time in its id shifted by `ms`. If `ms` is not 0, an event without a
 * timestamp gets one: the time in its id before the shift, which is the time of the device's clock.
 */
export function shiftLine(line: string, ms: number, hasTimestamp: boolean): string {
  if (ms === 0) return line
  const id = idOf(line)
  const rest = line.slice(idAt + idLength, -1)
  const timestamp = hasTimestamp ? '' : printTimestamp(timeOfUuid(id))
  return `{"id":"${shiftUuid(id, ms)}${rest}${timestamp}}`
}

const printTimestamp = (ms: number) => `,"timestamp":"${new Date(ms).toISOString()}"`
