import type { Era } from './clock.ts'
import { printName, type EntryName, type State } from './entry-name.ts'
import { parseObject } from './decide.ts'

/** What all events of a segment have in common. It is the first line of the stored segment. */
export interface Context {
  bundle: string
  /** Empty: it was not known yet. */
  uuid: string
  /** Empty: nobody. */
  user: string
  /** Properties of the device. */
  device: Record<string, unknown>
  era: Era
  /** The run whose monotonic clock `era` refers to. */
  run: string
}

/** A batch of events: what is stored as one, is sent as one, and is deleted as one. */
export interface Segment {
  /** What it is called in storage; empty: it is not there yet. */
  name: string
  key: string
  generation: number
  /** What it should be; its name in storage follows. */
  state: State
  shiftMs: number
  count: number
  bytes: number
  /** Of this run, until it is closed and stored. */
  memory: SegmentMemory | undefined
  /** An attempt may have stored events: their ids must not change. */
  mayBeStored: boolean
  isBusy: boolean
  /** Attempts that got 500; after three it is left until the next start. */
  failures: number
}

export interface SegmentMemory {
  user: string | undefined
  era: Era
  /** The end of the page may send it although its attempt is not marked. */
  mayLeave: boolean
  /** Each without its closing brace until it has its sequence. */
  lines: string[]
  numbered: number
  stored: number
}

export const newSegment = (fields: Partial<Segment> & Pick<Segment, 'key' | 'state'>): Segment => ({
  name: '',
  generation: 0,
  shiftMs: 0,
  count: 0,
  bytes: 0,
  memory: undefined,
  mayBeStored: fields.state === 'attempted',
  isBusy: false,
  failures: 0,
  ...fields,
})

/** A segment that another run has left; the end of its page may have sent what was still open. */
export function adoptedSegment(text: string, name: EntryName): Segment {
  const { key, generation, shiftMs, count, bytes } = name
  const state = name.state === 'leaving' ? 'attempted' : name.state
  return newSegment({ name: text, key, generation, state, shiftMs, count, bytes })
}

/** The name of the segment as it should be. */
export const nameOf = (segment: Segment, run: string): string =>
  printName({ kind: 'log', run, ...pick(segment) })

const pick = ({ key, generation, state, count, bytes, shiftMs }: Segment) => ({
  key,
  generation,
  state,
  count,
  bytes,
  shiftMs,
})

export interface StoredSegment {
  context: Context
  /** Each a JSON object. */
  lines: string[]
}

/**
 * @returns undefined: its beginning is damaged. A line that was not written completely, because the
 * process ended, was never reported as stored; it is left out
 */
export function parseSegment(text: string): StoredSegment | undefined {
  const lines = text.split('\n')
  lines.pop()
  const context = parseObject(lines[0] || '') as unknown as Context
  if (!context.bundle || !context.era) return undefined
  return { context, lines: lines.slice(1).filter((line) => parseObject(line)['id']) }
}

export const printSegment = ({ context, lines }: StoredSegment): string =>
  `${[JSON.stringify(context), ...lines].join('\n')}\n`
