import type { Era } from './clock.ts'
import { parseObject } from './decide.ts'
import { attempted, closed, type EntryName } from './entry-name.ts'

/** What every request says of its sender. What is not known yet is absent. */
export interface Sender {
  bundle_identifier: string
  device?: Record<string, unknown>
  device_uuid?: string
  unique_user_id?: string
}

/** What all events of a segment have in common. It is the first line of the stored segment. */
export interface Context {
  sender: Sender
  era: Era
  /** The run whose monotonic clock `era` refers to. */
  run: string
}

/** A batch of events: what is stored as one, is sent as one, and is deleted as one. */
export interface Segment extends EntryName {
  /** What it is called in storage, which may be behind `state`; empty: it is not there yet. */
  name: string
  /** Of this run, until it is closed and stored. */
  memory?: SegmentMemory | undefined
  /** An attempt may have stored events: their ids must not change. */
  mayBeStored: boolean
  isBusy?: boolean
  /** Attempts that got 500; after three it is left until the next start. */
  failures: number
}

export interface SegmentMemory {
  user: string
  era: Era
  /** The end of the page may send it although its attempt is not marked. */
  mayLeave: boolean
  /** Each without its closing brace until it has its sequence. */
  lines: string[]
  /** How many lines have their sequence, and how many are stored. */
  numbered: number
  stored: number
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
  /** Each a JSON object. */
  lines: string[]
}

/**
 * @returns no lines: it is damaged. A line that was not written completely, because the process
 * ended, was never reported as stored; it is left out
 */
export function parseSegment(text: string): StoredSegment {
  const lines = text.split('\n')
  const context = parseObject(lines[0]!) as unknown as Context
  return { context, lines: context.era ? lines.filter((line) => parseObject(line)['id']) : [] }
}

export const printSegment = ({ context, lines }: StoredSegment): string =>
  `${[JSON.stringify(context), ...lines].join('\n')}\n`
