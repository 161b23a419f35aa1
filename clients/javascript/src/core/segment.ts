import { correctedNow, shiftFor, type Era } from './clock.ts'
import { parseObject } from './decide.ts'
import { attempted, closed, type EntryName } from './entry-name.ts'
import type { LogEntry } from './log-event.ts'
import type { Attemptable } from './segment-list.ts'
import type { State } from './state.ts'
import { timeOfUuid } from './uuid.ts'

export interface Sender {
  bundle_identifier: string
  device?: Record<string, unknown>
  device_uuid?: string
  unique_user_id?: string
}

/** What all events of a segment have in common. It is the first line of a stored segment. */
export interface Context {
  sender: Sender
  era: Era
  /** The run whose monotonic clock the `era` refers to. */
  run: string
}

/** A batch of events that are stored, sent and deleted together. */
export interface Segment extends EntryName, Attemptable {
  /**
   * The segment's name in storage. The state in this name may be older than `state`. Empty if the
   * segment is not stored yet.
   */
  name: string
  /** The events in memory. Only a segment of this run has them, until it is closed and stored. */
  memory?: SegmentMemory | undefined
  /** True if an attempt may have stored events, so their ids must not change. */
  mayBeStored: boolean
  isBusy?: boolean
}

export interface SegmentMemory {
  user: string
  era: Era
  events: LogEntry[]
  /** How many of `events` are stored. */
  written: number
}

export const newSegment = (fields: Partial<Segment> & { key: string }): Segment => ({
  name: '',
  generation: 0,
  state: closed,
  count: 0,
  byteCount: 0,
  shiftMs: 0,
  failures: +(fields.state === attempted),
  mayBeStored: fields.state === attempted,
  ...fields,
})

export interface StoredSegment {
  context: Context
  events: LogEntry[]
}

/**
 * Parses a stored segment. An incomplete last line is left out. The process ended while it wrote
 * this line, so it never reported the event as stored.
 *
 * @returns no events if the first line, the context, is damaged
 */
export const parseSegment = (text: string): StoredSegment => {
  const [context, ...events] = text.split('\n').map(parseObject) as unknown as [
    Context,
    ...LogEntry[],
  ]
  return { context, events: context.era ? events.filter(({ id }) => id) : [] }
}

export const printLines = (lines: readonly unknown[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/**
 * The text of the events before `end` that are not stored. At the start of a segment the context
 * comes first.
 */
export const textOf = (memory: SegmentMemory, end: number, context: Context): string => {
  const events = memory.events.slice(memory.written, end)
  return printLines(memory.written ? events : [context, ...events])
}

/**
 * Returns the milliseconds by which to shift the ids of events that were never sent.
 *
 * In an earlier run of the client, the clock may have been right, or wrong by a different amount.
 * So events of an earlier run are moved back only if their times are in the future, which cannot be
 * right.
 */
export const shiftOf = (client: State, { context, events }: StoredSegment): number => {
  const isOfThisRun = context.run === client.run
  const shiftMs = shiftFor(client, context.era, isOfThisRun)
  const isPossible =
    isOfThisRun || shiftMs > 0 || timeOfUuid(events[events.length - 1]!.id) > correctedNow(client)
  return isPossible ? shiftMs : 0
}
