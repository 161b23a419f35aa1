import { attemptRequest, type Attempted } from './answer.ts'
import type { Clock } from './clock.ts'
import { parseObject } from './decide.ts'
import type { Drops } from './drops.ts'
import { eventAgeMsMax, generationsMax } from './limits.ts'
import { idOf, shiftLine } from './log-line.ts'
import type { LogQueue } from './log-queue.ts'
import type { Answer, Ports } from './ports.ts'
import { newSegment, type Context, type Segment, type StoredSegment } from './segment.ts'
import type { Sent } from './send-loop.ts'
import { textBytes } from './text-bytes.ts'
import { timeOfUuid } from './uuid.ts'

interface EntryResult {
  status: string
  code?: string
}

export interface LogSender {
  /** Sends the oldest segment; undefined: none can be sent. */
  send(): Promise<Sent | undefined>
  /** Sends what is still open, in a request that outlives the page. */
  sendAtPageEnd(bytesMax: number, contextOf: (segment: Segment) => Context): void
}

export function createLogSender(options: {
  ports: Pick<Ports<never>, 'transport' | 'time'>
  queue: LogQueue
  clock: Clock
  drops: Drops
  run: string
  /** For events that were logged before it was known. */
  deviceUuid: () => string
}): LogSender {
  const { ports, queue, clock, drops, run, deviceUuid } = options
  const path = '/log/batch'

  async function send(): Promise<Sent | undefined> {
    const segment = queue.oldest()
    if (!segment) return undefined
    segment.isBusy = true
    try {
      const wasOpen = segment.mayBeStored
      const stored = await queue.attempt(segment)
      if (!stored) return { next: 'done' }
      if (await dropExpired(segment, stored)) return { next: 'done' }
      segment.mayBeStored = true
      const request = { path, body: printBatch(stored, segment.shiftMs, deviceUuid()) }
      const attempted = await attemptRequest({ ...ports, request, successStatus: 207, clock })
      return await settle(segment, { stored, attempted, wasOpen })
    } finally {
      segment.isBusy = false
    }
  }

  /** Removes a segment whose newest event would be refused for its age. */
  async function dropExpired(segment: Segment, { lines }: StoredSegment): Promise<boolean> {
    const last = timeOfUuid(idOf(lines[lines.length - 1]!)) + segment.shiftMs
    if (last >= clock.now() - eventAgeMsMax) return false
    drops.add('expired', lines.length)
    await queue.replace(segment, [])
    return true
  }

  /** @param sent.wasOpen an earlier attempt may have stored events */
  async function settle(
    segment: Segment,
    sent: { stored: StoredSegment; attempted: Attempted; wasOpen: boolean },
  ): Promise<Sent> {
    const { stored, attempted, wasOpen } = sent
    if (attempted.answer) {
      const results = readResults(attempted.answer, stored.lines.length)
      // Not a result of Intake, although it has its status.
      if (!results) return { next: 'later' }
      await settleEntries(segment, stored, { results, wasOpen })
      return { next: 'done' }
    }
    const { decision, code, retryAfterMs } = attempted
    if (attempted.isDefinite) segment.mayBeStored = wasOpen
    if (decision === 'stop') return { next: 'stop', reason: code }
    if (decision === 'retry') return { next: 'later', retryAfterMs }
    if (decision === 'few') {
      segment.failures++
      return { next: 'later', retryAfterMs }
    }
    if (decision === 'split' && stored.lines.length > 1) {
      await split(segment, stored)
      return { next: 'done' }
    }
    const results = stored.lines.map(() => ({ status: 'rejected', code }))
    await settleEntries(segment, stored, { results, wasOpen })
    return { next: 'done' }
  }

  /** Removes what has its result. Events that the wrong clock of the device kept out get other ids. */
  async function settleEntries(
    segment: Segment,
    stored: StoredSegment,
    sent: { results: EntryResult[]; wasOpen: boolean },
  ): Promise<void> {
    const { context, lines } = stored
    const shiftMs = clock.shiftFor(context.era, context.run === run)
    const mayReidentify =
      !sent.wasOpen && segment.generation < generationsMax && shiftMs !== segment.shiftMs
    const again: string[] = []
    sent.results.forEach(({ status, code = 'unknown' }, index) => {
      if (status === 'accepted') return
      if (code !== 'id_time_out_of_range') drops.add(code, 1)
      else if (mayReidentify) again.push(lines[index]!)
      else drops.add('expired', 1)
    })
    if (again.length === 0) return queue.replace(segment, [])
    const next = { key: segment.key, generation: segment.generation + 1, state: 'closed' as const }
    await queue.replace(segment, [partOf({ ...next }, { context, lines: again })])
  }

  async function split(segment: Segment, { context, lines }: StoredSegment): Promise<void> {
    const { key, shiftMs, mayBeStored } = segment
    const middle = lines.length >> 1
    const halves = [lines.slice(0, middle), lines.slice(middle)].map((half, index) =>
      partOf(
        { key: key + 'ab'[index], state: 'attempted', shiftMs, mayBeStored },
        { context, lines: half },
      ),
    )
    await queue.replace(segment, halves)
  }

  function partOf(fields: Parameters<typeof newSegment>[0], stored: StoredSegment) {
    const bytes = stored.lines.reduce((sum, line) => sum + textBytes(line) + 1, 0)
    return { segment: newSegment({ ...fields, count: stored.lines.length, bytes }), stored }
  }

  return {
    send,
    sendAtPageEnd(bytesMax, contextOf) {
      const left = queue.leave(bytesMax)
      if (!left) return
      const { segment, lines, isAll } = left
      const stored = { context: contextOf(segment), lines }
      const request = { path, body: printBatch(stored, 0, deviceUuid()), isLast: true }
      segment.isBusy = true
      void attemptRequest({ ...ports, request, successStatus: 207, clock })
        .then(async (attempted) => {
          // The page lives on. What was sent in part is sent again, under the same ids.
          if (isAll) await settle(segment, { stored, attempted, wasOpen: false })
        })
        .catch(() => undefined)
        .then(() => {
          segment.isBusy = false
        })
    },
  }
}

function printBatch({ context, lines }: StoredSegment, shiftMs: number, ownUuid: string): string {
  const { bundle, device, era } = context
  const uuid = context.uuid || ownUuid
  const logs = lines.map((line) => shiftLine(line, shiftMs, era.offset !== 0)).join(',')
  const head = JSON.stringify({
    bundle_identifier: bundle,
    device,
    device_uuid: uuid,
    unique_user_id: context.user || uuid,
  })
  return `${head.slice(0, -1)},"logs":[${logs}]}`
}

/** @returns undefined: not a result for each entry */
function readResults({ body }: Answer, count: number): EntryResult[] | undefined {
  const { results } = parseObject(body)
  if (!Array.isArray(results) || results.length !== count) return undefined
  const isKnown = (results as (EntryResult | null)[]).every(
    (result) => result && (result.status === 'accepted' || result.status === 'rejected'),
  )
  return isKnown ? (results as EntryResult[]) : undefined
}
