import type { Era } from './clock.ts'
import { parseObject } from './decide.ts'
import { attempted, closed, type EntryName } from './entry-name.ts'
import { closeLine, idOf } from './log-line.ts'
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
export interface Segment extends EntryName {
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
  /**
   * Number of attempts that got status 500. After three such attempts, the segment is not sent
   * again before the next start.
   */
  failures: number
}

export interface SegmentMemory {
  user: string
  era: Era
  events: UnsentEvent[]
  /** How many events are stored. */
  stored: number
}

/** An event of which this run still has the content. */
export interface UnsentEvent {
  /** The event as JSON without its closing brace. */
  line: string
  /** The sequence number; 0 if the event has none. */
  sequence: number
}

export const newSegment = (fields: Partial<Segment> & { key: string }): Segment => ({
  name: '',
  generation: 0,
  state: closed,
  count: 0,
  bytes: 0,
  shiftMs: 0,
  failures: 0,
  mayBeStored: fields.state === attempted,
  ...fields,
})

export interface StoredSegment {
  context: Context
  lines: string[]
}

/**
 * Parses a stored segment. An incomplete last line is left out. The process ended while it wrote
 * this line, so it never reported the event as stored.
 *
 * @returns no lines if the first line, the context, is damaged
 */
export function parseSegment(text: string): StoredSegment {
  const lines = text.split('\n')
  const context = parseObject(lines[0]!) as unknown as Context
  return { context, lines: context.era ? lines.filter((line) => parseObject(line)['id']) : [] }
}

export const printSegment = ({ context, lines }: StoredSegment): string =>
  `${[JSON.stringify(context), ...lines].join('\n')}\n`

export const closeLines = (events: readonly UnsentEvent[]): string[] =>
  events.map(({ line, sequence }) => closeLine(line, sequence))

/**
 * The text of the events before `end` that are not stored. At the start of a segment the context
 * comes first.
 */
export function textOf(memory: SegmentMemory, end: number, context: Context): string {
  const lines = closeLines(memory.events.slice(memory.stored, end))
  return memory.stored > 0 ? `${lines.join('\n')}\n` : printSegment({ context, lines })
}

/**
 * Returns the milliseconds by which to shift the ids of events that were never sent.
 *
 * In an earlier run of the client, the clock may have been right, or wrong by a different amount.
 * So events of an earlier run are moved back only if their times are in the future, which cannot be
 * right.
 */
export function shiftOf({ clock, run }: State, { context, lines }: StoredSegment): number {
  const isOfThisRun = context.run === run
  const shiftMs = clock.shiftFor(context.era, isOfThisRun)
  const isPossible =
    isOfThisRun || shiftMs > 0 || timeOfUuid(idOf(lines[lines.length - 1]!)) > clock.now()
  return isPossible ? shiftMs : 0
}
