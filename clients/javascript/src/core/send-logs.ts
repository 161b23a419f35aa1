import { attemptRequest, type Attempted } from './answer.ts'
import type { State } from './state.ts'
import { isTaken, parseObject, resultsOf, type Result } from './decide.ts'
import { attempted as attemptedState } from './entry-name.ts'
import { generationsMax } from './limits.ts'
import { shiftLine } from './log-line.ts'
import { printAccepted } from './print-accepted.ts'
import { newSegment, printSegment, type Segment, type StoredSegment } from './segment.ts'
import type { Sent } from './sent.ts'
import { shiftOf } from './shift.ts'
import { textBytes } from './text-bytes.ts'
import { nothing } from './with-fallback.ts'

/** Sends the oldest segment; resolves to undefined if none can be sent. */
export async function sendOldest(client: State): Promise<Sent | undefined> {
  const segment = client.logs.oldest()
  if (!segment) return undefined
  segment.isBusy = true
  try {
    const wasOpen = segment.mayBeStored
    const stored = await client.logs.attempt(segment)
    if (!stored) return {}
    segment.mayBeStored = true
    const attempted = await attempt(client, segment, stored)
    return await settle(client, segment, { stored, attempted, wasOpen })
  } finally {
    segment.isBusy = false
  }
}

/** Sends the open segments in requests that outlive the page. */
export function sendAtPageEnd(client: State): void {
  client.logs.leave((segment, stored, isAll) => {
    segment.isBusy = true
    void attempt(client, segment, stored, true)
      // This callback runs only if the page was not closed after all. If only a part of the events
      // was sent, all are sent again, under the same ids.
      .then(async (attempted) => {
        if (isAll) await settle(client, segment, { stored, attempted, wasOpen: false })
      })
      .catch(nothing)
      .then(() => {
        segment.isBusy = false
      })
  })
}

function attempt(
  client: State,
  segment: Segment,
  stored: StoredSegment,
  isLast?: boolean,
): Promise<Attempted> {
  const body = printBatch(stored, segment.shiftMs, client)
  return attemptRequest(client, { path: '/log/batch', body, isLast }, segment)
}

/**
 * Handles the result of an attempt. Removes the events that have a final result from the segment.
 * Events that were rejected because the device's clock was wrong get new ids.
 *
 * @param sent.wasOpen true if an earlier attempt may have stored events
 */
async function settle(
  client: State,
  segment: Segment,
  sent: { stored: StoredSegment; attempted: Attempted; wasOpen: boolean },
): Promise<Sent> {
  const { drops, logs } = client
  const { stored, wasOpen } = sent
  const { body = '', unsettled, code, isTooLarge, isDefinite } = sent.attempted
  const { lines } = stored
  if (isDefinite) segment.mayBeStored = wasOpen
  if (unsettled) return unsettled
  if (isTooLarge && lines.length > 1) {
    await logs.replace(segment, halvesOf(segment, stored))
    return {}
  }
  const results: Result[] | undefined =
    body === '' ? lines.map(() => ({ code })) : readResults(body, lines.length)
  // Intake always sends one result for each entry, so this response is from a proxy.
  if (!results) return { retryAfterMs: 0 }
  const { key, generation, shiftMs } = segment
  const mayShift = !wasOpen && generation < generationsMax && shiftOf(client, stored) !== shiftMs
  const again = lines.filter((line, index) => {
    const { status, code: reason = 'unknown' } = results[index]!
    if (isTaken(status)) {
      client.droppedNames.learn(line, status === 'dropped')
      return false
    }
    const isOutOfRange = reason === 'id_time_out_of_range'
    if (isOutOfRange && mayShift) return true
    drops.add(isOutOfRange ? 'expired' : reason, 1)
    return false
  })
  const next = { key, generation: generation + 1 }
  await logs.replace(segment, again.length > 0 ? [partOf(next, { ...stored, lines: again })] : [])
  return { isAccepted: results.some((result) => isTaken(result.status)) }
}

function halvesOf({ key, shiftMs, mayBeStored }: Segment, { context, lines }: StoredSegment) {
  const middle = lines.length >> 1
  return [lines.slice(0, middle), lines.slice(middle)].map((half, index) =>
    partOf(
      { key: key + index, state: attemptedState, shiftMs, mayBeStored },
      { context, lines: half },
    ),
  )
}

function partOf(fields: Parameters<typeof newSegment>[0], stored: StoredSegment) {
  const count = stored.lines.length
  return {
    segment: newSegment({ ...fields, count, bytes: textBytes(printSegment(stored)) }),
    stored,
  }
}

/**
 * Prints the body of a batch. Adds the properties of the sender that were not yet known when the
 * first event of the batch was logged.
 */
function printBatch({ context, lines }: StoredSegment, shiftMs: number, client: State): string {
  const { sender, era } = context
  const logs = lines.map((line) => shiftLine(line, shiftMs, era.offset !== 0)).join(',')
  const head = printAccepted({ ...client.senderOf('', false), ...sender }, client)
  return `${head.slice(0, -1)},"logs":[${logs}]}`
}

/** Reads the results of a batch; undefined unless there is a result for each entry. */
function readResults(body: string, count: number): Result[] | undefined {
  const results = resultsOf(parseObject(body)['results'])
  // A status that this release does not know counts as rejected.
  const isWhole = results.length === count && results.every(({ status }) => isText(status))
  return isWhole ? results : undefined
}

const isText = (value: unknown) => typeof value === 'string'
