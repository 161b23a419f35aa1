import { attemptRequest, type ResponseBody } from './answer.ts'
import { isTaken, resultsOf, type Result } from './decide.ts'
import { learn } from './dropped-names.ts'
import { addDrops } from './drops.ts'
import { attempted as attemptedState, open } from './entry-name.ts'
import { fewAttempts, generationsMax } from './limits.ts'
import { jsonBytes, shiftEntry } from './log-event.ts'
import { acceptedOf } from './accepted.ts'
import { shiftOf, type Segment, type StoredSegment } from './segment.ts'
import { reportDrops } from './record.ts'
import { closeAll, contextOf, isOpen, oldest } from './segment-list.ts'
import { senderOf } from './sender.ts'
import type { Sent } from './sent.ts'
import type { State } from './state.ts'
import { attempt, replace } from './stored-segments.ts'
import { nothing } from './with-fallback.ts'

/** Sends the oldest segment; resolves to undefined if none can be sent. */
export const sendLogs = async (client: State): Promise<Sent | undefined> => {
  // Closes the open segments only when no closed segment waits, except refused ones. During an
  // outage, the events thus collect in few segments.
  const { failures = 1 } = oldest(client) || {}
  if (client.isDue && failures) {
    client.isDue = false
    closeAll(client)
  }
  const segment = oldest(client)
  return (
    segment &&
    whileBusy(segment, async () => {
      const stored = await attempt(client, segment)
      return stored ? send(client, segment, stored) : {}
    })
  )
}

/**
 * Sends the open segments in requests that outlive the page, each with as many of its events as fit
 * into the request.
 */
export const sendAtPageEnd = (client: State): void => {
  for (const segment of client.segments.filter(isOpen)) {
    const memory = segment.memory!
    const { events, era } = memory
    if (segment.state === open && !era.isTrusted) continue
    for (const event of events.slice(memory.written))
      if (client.nextSequence) event.sequence ||= client.nextSequence++
    const context = contextOf(client, memory)
    let left = client.pageEndBytes() - jsonBytes(context)
    const kept = events.filter((event) => (left -= jsonBytes(event) + 1) >= 0)
    if (!kept[0]) continue
    segment.state = attemptedState
    void whileBusy(segment, () => send(client, segment, { context, events: kept }, true)).catch(
      nothing,
    )
  }
}

const whileBusy = (segment: Segment, work: () => Promise<Sent>): Promise<Sent> => {
  segment.isBusy = true
  return work().finally(() => {
    segment.isBusy = false
  })
}

/**
 * Sends events of a segment, and removes those that have a final result from the segment. Events
 * that were rejected because the device's clock was wrong get new ids.
 *
 * @param isLast true at the end of the page. What follows the request then happens only if the page
 *   was not closed after all
 */
const send = async (
  client: State,
  segment: Segment,
  stored: StoredSegment,
  isLast?: boolean,
): Promise<Sent> => {
  const { key, count, generation, shiftMs, mayBeStored } = segment
  const { context, events } = stored
  segment.mayBeStored = true
  const { body, unsettled, code, isTooLarge, isDefinite } = await attemptRequest(
    client,
    { path: '/log/batch', body: printBatch(client, stored, shiftMs), isLast },
    segment,
  )
  // If only a part of the events was sent, all are sent again, under the same ids.
  if (events.length < count) return {}
  if (isDefinite) segment.mayBeStored = mayBeStored
  // Of events that are refused together, one may be the cause. After many refusals, a single event
  // finds out soonest whether everything is refused.
  const isProbe = client.refusals > fewAttempts
  if (events.length > 1 && (isTooLarge || isProbe || segment.isResting)) {
    const middle = isProbe ? 1 : events.length >> 1
    const half = { state: attemptedState, shiftMs, mayBeStored: segment.mayBeStored }
    await replace(client, segment, context, [
      [{ ...half, key: key + 0, failures: 0 }, events.splice(0, middle)],
      [{ ...half, key: key + 1 }, events],
    ])
    return unsettled || {}
  }
  if (unsettled) return unsettled
  const results = body ? readResults(body, events.length) : events.map((): Result => ({ code }))
  // Intake always sends one result for each entry, so this response is from a proxy.
  if (!results) return { retryAfterMs: 0 }
  const mayShift =
    !mayBeStored && generation < generationsMax && shiftOf(client, stored) !== shiftMs
  const again = events.filter(({ event }, index) => {
    const { status, code: reason = 'unknown' } = results[index]!
    if (isTaken(status)) {
      learn(client, event, status === 'dropped')
      return false
    }
    const isOutOfRange = reason === 'id_time_out_of_range'
    if (isOutOfRange && mayShift) return true
    addDrops(client, isOutOfRange ? 'expired' : reason, 1)
    return false
  })
  await replace(client, segment, context, [[{ key, generation: generation + 1 }, again]])
  // The server accepts events, so it can receive the report of dropped records. `flush` waits for
  // this report, too.
  if (results.some(({ status }) => isTaken(status)) && reportDrops(client) && client.waiting[0])
    closeAll(client)
  return {}
}

/**
 * Prints the body of a batch. Adds the properties of the sender that were not yet known when the
 * first event of the batch was logged.
 */
const printBatch = (client: State, { context, events }: StoredSegment, shiftMs: number): string => {
  const logs = events.map((event) => shiftEntry(event, shiftMs))
  return JSON.stringify(acceptedOf(client, { ...senderOf(client, ''), ...context.sender, logs }))
}

/** Reads the results of a batch; false unless there is a result for each entry. */
const readResults = (body: ResponseBody, count: number): Result[] | false => {
  const results = resultsOf(body.results)
  // A status that this release does not know counts as rejected.
  const isWhole =
    results.length === count && results.every(({ status }) => typeof status === 'string')
  return isWhole && results
}
