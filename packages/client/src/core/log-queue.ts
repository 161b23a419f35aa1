import type { Core } from './core.ts'
import * as state from './entry-name.ts'
import { printFirstName, printName, type ParsedName } from './entry-name.ts'
import { batchMax, fewAttempts, segmentBytesMax, segmentsMin } from './limits.ts'
import {
  newSegment,
  numberLines,
  parseSegment,
  printSegment,
  textOf,
  type Context,
  type Segment,
  type SegmentMemory,
  type StoredSegment,
} from './segment.ts'
import { createSerial } from './serial.ts'
import { shiftOf } from './shift.ts'
import { textBytes } from './text-bytes.ts'
import { nothing } from './with-fallback.ts'

export interface LogQueue {
  /**
   * Adds an event to the open segment, in memory; `save` stores it.
   *
   * @param line from `printLine`
   */
  add(line: string, user: string): void
  /** Closes the open segment, so that it can be sent. */
  close(): void
  /**
   * Stores events that are only in memory, and marks closed segments as closed in storage. Runs
   * after all earlier operations of the queue, such as marking an attempt.
   */
  save(): Promise<void>
  /**
   * Takes over segments of ended runs. Of several names with the same key, takes the last.
   *
   * @param names in ascending order
   */
  adopt(names: readonly ParsedName[]): Promise<void>
  /** The oldest closed segment that can be sent now. */
  oldest(): Segment | undefined
  /**
   * Marks a segment as attempted in storage, and then reads it, because another run may append to
   * it until it is marked. Rejects if it cannot be read now.
   *
   * @returns undefined if the segment no longer exists
   */
  attempt(segment: Segment): Promise<StoredSegment | undefined>
  /** Replaces a segment by `parts`; deletes it if there are none. */
  replace(
    segment: Segment,
    parts?: readonly { segment: Segment; stored: StoredSegment }[],
  ): Promise<void>
  /**
   * Closes the open segment at the end of the page. Returns those of its events that fit into a
   * request then; undefined if there are none. `isAll`: all of them fit.
   */
  leave(): { segment: Segment; stored: StoredSegment; isAll: boolean } | undefined
  /** Deletes all events, in memory and in storage. */
  clear(): void
  count(): number
  bytes(): number
  /** Whether an event is only in memory. */
  hasUnsaved(): boolean
  /** All segments, for a synchronous write of the events in memory when the process ends. */
  segments(): readonly Segment[]
  contextOf(memory: SegmentMemory): Context
}

/**
 * Creates the queue of log events that wait: one open segment of this run, and closed segments,
 * oldest first.
 */
export function createLogQueue(core: Core): LogQueue {
  const { options, ports, storage, clock, drops, run, newId } = core
  const {
    batchEntriesMax = batchMax,
    storageBytesMax = 4_000_000,
    storageEventsMax = 5000,
  } = options
  const entriesMax = Math.min(batchEntriesMax, batchMax, Math.ceil(storageEventsMax / segmentsMin))
  const segmentBytes = Math.min(segmentBytesMax, Math.ceil(storageBytesMax / segmentsMin))
  const serial = createSerial()
  let segments: Segment[] = []
  let open: Segment | undefined
  let count = 0
  let bytes = 0
  /** 0 until storage has returned the next number. */
  let nextSequence = 0

  const contextOf = ({ user, era }: SegmentMemory): Context => ({
    sender: core.senderOf(user, false),
    era,
    run,
  })
  const isKnown = (segment: Segment) => segments.indexOf(segment) >= 0

  function add(line: string, user: string): void {
    const era = clock.era()
    const size = textBytes(line) + 20
    if (open) {
      const memory = open.memory!
      const hasRoom = open.count < entriesMax && open.bytes + size <= segmentBytes
      if (!hasRoom || memory.era !== era || memory.user !== user) close()
    }
    if (!open) {
      open = newSegment({
        key: newId(),
        state: ports.pageEndBytes() > 0 ? state.leaving : state.open,
        memory: { user, era, lines: [], numbered: 0, stored: 0 },
      })
      segments.push(open)
      grow(open, 0, textBytes(JSON.stringify(contextOf(open.memory!))))
    }
    open.memory!.lines.push(line)
    grow(open, 1, size)
    while (isFull() && evict());
  }

  const isFull = () => count > storageEventsMax || bytes > storageBytesMax

  function grow(segment: Segment, events: number, size: number): void {
    segment.count += events
    segment.bytes += size
    count += events
    bytes += size
  }

  function tally(segment: Segment, sign: number): void {
    count += sign * segment.count
    bytes += sign * segment.bytes
  }

  function evict(): boolean {
    const victim = segments.find(({ isBusy }) => !isBusy)
    if (!victim) return false
    void remove(victim)
    drops.add('queue_full', victim.count)
    return true
  }

  function remove(segment: Segment): Promise<void> {
    forget(segment)
    return serial(async () => {
      if (segment.name) await storage.remove(segment.name)
    })
  }

  function forget(segment: Segment): void {
    if (!isKnown(segment)) return
    segments.splice(segments.indexOf(segment), 1)
    tally(segment, -1)
    if (open === segment) open = undefined
  }

  function close(): void {
    if (open) open.state = state.closed
    open = undefined
  }

  /** Stores the events of a segment of this run, and its state if it is closed. */
  async function store(segment: Segment): Promise<void> {
    const memory = await write(segment)
    if (!memory || segment === open) return
    if (memory.stored === memory.lines.length && (await rename(segment))) segment.memory = undefined
  }

  /** Stores the events that are only in memory. */
  async function write(segment: Segment): Promise<SegmentMemory | undefined> {
    const { memory } = segment
    if (!memory || !isKnown(segment)) return undefined
    const { stored, lines } = memory
    const end = lines.length
    if (stored === end) return memory
    const print = (first: number) => {
      numberLines(memory, end, first)
      nextSequence = first + end - stored
      return textOf(memory, end, contextOf(memory))
    }
    if (stored === 0) segment.name = printFirstName(segment, run)
    if (await storage.append(segment.name, stored === 0, end - stored, print)) {
      memory.stored = end
      return memory
    }
    // The stored part is gone, because another run has taken the segment over. The events that are
    // only in memory become a new segment.
    lines.splice(0, stored)
    memory.numbered -= stored
    memory.stored = 0
    segment.key = newId()
    grow(segment, -stored, 0)
    return write(segment)
  }

  /**
   * Renames a segment in storage to match its state. Resolves to false if the segment no longer
   * exists.
   */
  async function rename(segment: Segment): Promise<boolean> {
    const name = printName(segment, run)
    if (name === segment.name) return true
    try {
      const isThere = await storage.rename(segment.name, name)
      if (isThere) segment.name = name
      else forget(segment)
      return isThere
    } catch {
      // Continues without the rename. Otherwise records could not be sent while storage is full,
      // and storage would remain full.
      return true
    }
  }

  async function attempt(segment: Segment): Promise<StoredSegment | undefined> {
    const memory = await write(segment)
    if (!isKnown(segment)) return undefined
    const own = memory && { context: contextOf(memory), lines: memory.lines.slice() }
    if (segment.state !== state.attempted) {
      const stored = own || (await load(segment))
      if (!stored) return undefined
      segment.shiftMs = shiftOf(core, stored)
      segment.state = state.attempted
    }
    if (!(await rename(segment))) return undefined
    segment.memory = undefined
    return own || load(segment)
  }

  /**
   * Reads a segment and corrects its size. If the segment no longer exists or has no events,
   * forgets it and resolves to undefined. If it cannot be read, keeps it and rejects.
   */
  async function load(segment: Segment): Promise<StoredSegment | undefined> {
    const text = (await storage.read(segment.name)) || ''
    const stored = parseSegment(text)
    const { length } = stored.lines
    // If the text is missing, another run has sent the segment: nothing was damaged.
    if (text) drops.add('damaged', Math.max(segment.count - length, 0))
    if (isKnown(segment)) grow(segment, length - segment.count, textBytes(text) - segment.bytes)
    if (length > 0) return stored
    void remove(segment)
    return undefined
  }

  return {
    add,
    close,
    save: () =>
      serial(async () => {
        for (const segment of segments.slice()) await store(segment)
      }),
    async adopt(names) {
      const adopted: Segment[] = []
      names.forEach(({ name, run: _run, ...entry }, at) => {
        const next = names[at + 1]
        if (next && next.key === entry.key) void serial(() => storage.remove(name))
        else if (segments.every(({ key }) => key !== entry.key)) {
          // A segment in this state may have been sent when its page ended, so its ids must not
          // change.
          if (entry.state === state.leaving) entry.state = state.attempted
          const segment = newSegment({ ...entry, name })
          adopted.push(segment)
          tally(segment, 1)
        }
      })
      segments = adopted.concat(segments)
      for (const segment of adopted)
        if (!segment.count) await serial(() => load(segment)).catch(nothing)
    },
    oldest: () => segments.find((one) => one !== open && !one.isBusy && one.failures < fewAttempts),
    attempt: (segment) => serial(() => attempt(segment)),
    async replace(segment, parts = []) {
      await serial(async () => {
        if (!isKnown(segment)) return
        for (const { segment: part, stored } of parts) {
          part.name = printName(part, run)
          await storage.append(part.name, true, 0, () => printSegment(stored))
        }
        segments.splice(segments.indexOf(segment), 0, ...parts.map((part) => part.segment))
        for (const { segment: part } of parts) tally(part, 1)
      })
      await remove(segment)
    },
    leave() {
      const segment = open
      if (!segment) return undefined
      const memory = segment.memory!
      const { lines, era } = memory
      if (segment.state === state.open && !era.isTrusted) return undefined
      close()
      numberLines(memory, lines.length, nextSequence)
      const context = contextOf(memory)
      let left = ports.pageEndBytes() - textBytes(JSON.stringify(context))
      const kept = lines.filter((line) => (left -= textBytes(line) + 1) >= 0)
      if (kept.length === 0) return undefined
      segment.state = state.attempted
      segment.mayBeStored = true
      return { segment, stored: { context, lines: kept }, isAll: kept.length === lines.length }
    },
    clear() {
      while (segments[0]) void remove(segments[0])
    },
    count: () => count,
    bytes: () => bytes,
    hasUnsaved: () => segments.some(({ memory }) => memory && memory.stored < memory.lines.length),
    segments: () => segments,
    contextOf,
  }
}
