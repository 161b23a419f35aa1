import type { Core } from './core.ts'
import * as state from './entry-name.ts'
import { printFirstName, printName, type ParsedName } from './entry-name.ts'
import { batchMax, fewAttempts, segmentBytesMax, segmentsMin } from './limits.ts'
import {
  closeLines,
  newSegment,
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
  /** Closes the open segments, so that they can be sent. */
  close(): void
  /**
   * Stores events that are only in memory, and marks closed segments as closed in storage. Runs
   * after all earlier operations of the queue, such as marking an attempt.
   */
  save(): Promise<void>
  /**
   * Takes over segments of ended runs. If several names have the same key, takes only the last one.
   *
   * @param names in ascending order
   */
  adopt(names: readonly ParsedName[]): Promise<void>
  /** The oldest closed segment that can be sent now. */
  oldest(): Segment | undefined
  /**
   * Marks a segment as attempted in storage, then returns its content. The returned content of a
   * segment of another run is read after the mark, because the other run may append to the segment
   * until then. Rejects if the segment cannot be read now.
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
   * Closes the open segments at the end of the page. Calls `send` for each segment, with as many of
   * its events as fit into the request; `isAll` is true if all of them fit.
   */
  leave(send: (segment: Segment, stored: StoredSegment, isAll: boolean) => void): void
  clear(): void
  count(): number
  bytes(): number
  hasUnsaved(): boolean
  /** All segments, for a synchronous write of the events in memory when the process ends. */
  segments(): readonly Segment[]
  contextOf(memory: SegmentMemory): Context
}

/**
 * Creates the queue of waiting log events. The events are in closed segments, oldest first, and in
 * open segments of this run. There is one open segment for each user who has logged since the last
 * request. So a process that serves several users needs one file and one request for each user, not
 * for each event.
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
  const open = new Map<string, Segment>()
  let count = 0
  let bytes = 0
  /** The next sequence number; 0 if the storage gave no numbers to the last events. */
  let nextSequence = 0

  const contextOf = ({ user, era }: SegmentMemory): Context => ({
    sender: core.senderOf(user, false),
    era,
    run,
  })
  const isKnown = (segment: Segment) => segments.indexOf(segment) >= 0
  const isOpen = (segment: Segment) => segment.state < state.closed

  function add(line: string, user: string): void {
    const era = clock.era()
    const size = textBytes(line) + 20
    let segment = open.get(user)
    if (segment) {
      const hasRoom = segment.count < entriesMax && segment.bytes + size <= segmentBytes
      if (!hasRoom || segment.memory!.era !== era) {
        close(segment)
        segment = undefined
      }
    }
    if (!segment) {
      const memory = { user, era, events: [], stored: 0 }
      const isPage = ports.pageEndBytes() > 0
      segment = newSegment({ key: newId(), state: isPage ? state.leaving : state.open, memory })
      open.set(user, segment)
      segments.push(segment)
      grow(segment, 0, textBytes(JSON.stringify(contextOf(memory))))
    }
    segment.memory!.events.push({ line, sequence: 0 })
    grow(segment, 1, size)
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
    if (isOpen(segment)) close(segment)
  }

  function close(segment: Segment): void {
    segment.state = state.closed
    open.delete(segment.memory!.user)
  }

  /**
   * Stores the events of a segment of this run. If the segment is closed, also stores its state,
   * which is part of its name in storage.
   */
  async function store(segment: Segment): Promise<void> {
    const memory = await write(segment)
    if (!memory || isOpen(segment)) return
    if (memory.stored === memory.events.length && (await rename(segment)))
      segment.memory = undefined
  }

  /**
   * Appends the events that are only in memory to the stored segment. Resolves to undefined if the
   * segment has no memory or was removed.
   */
  async function write(segment: Segment): Promise<SegmentMemory | undefined> {
    const { memory } = segment
    if (!memory || !isKnown(segment)) return undefined
    const { stored, events } = memory
    const end = events.length
    if (stored === end) return memory
    const isNew = stored === 0
    const print = (first: number) => {
      for (const event of events.slice(stored, end)) event.sequence = first && first++
      nextSequence = first
      return textOf(memory, end, contextOf(memory))
    }
    if (isNew) segment.name = printFirstName(segment, run)
    const isThere = await storage.append(segment.name, isNew, end - stored, print).catch(nothing)
    if (isThere) {
      memory.stored = end
      return memory
    }
    if (!isKnown(segment)) return undefined
    // The append failed, so the lines that are not stored move to a new segment. If storage is full
    // or broken, the stored lines remain a segment, whose size `load` corrects. If the name does
    // not exist, another run has taken over the stored lines.
    const part = newSegment({
      key: segment.key,
      name: segment.name,
      state: stateOfEnded(segment.state),
      count: stored,
      bytes: textBytes(closeLines(events.splice(0, stored)).join('\n')),
    })
    if (isThere === undefined) insert(segment, [part])
    memory.stored = 0
    segment.key = newId()
    grow(segment, -stored, -part.bytes)
    return write(segment)
  }

  function insert(before: Segment, parts: readonly Segment[]): void {
    segments.splice(segments.indexOf(before), 0, ...parts)
    for (const part of parts) tally(part, 1)
  }

  /** Renames a segment in storage to match its state. Resolves to false if it is not in storage. */
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
    const own = memory && { context: contextOf(memory), lines: closeLines(memory.events) }
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
    // If there is no text, another run has sent the segment, so nothing was damaged.
    if (text) drops.add('damaged', Math.max(segment.count - length, 0))
    if (isKnown(segment)) grow(segment, length - segment.count, textBytes(text) - segment.bytes)
    if (length > 0) return stored
    void remove(segment)
    return undefined
  }

  return {
    add,
    close: () => open.forEach(close),
    async save() {
      await serial(async () => undefined)
      // Each segment is a separate task, so that an attempt waits for one write, not for all.
      for (const segment of segments.filter(({ memory }) => memory))
        await serial(() => store(segment))
    },
    async adopt(names) {
      const adopted: Segment[] = []
      names.forEach(({ name, run: _run, ...entry }, at) => {
        const next = names[at + 1]
        if (next && next.key === entry.key) void serial(() => storage.remove(name))
        else if (segments.every(({ key }) => key !== entry.key)) {
          const segment = newSegment({ ...entry, name, state: stateOfEnded(entry.state) })
          adopted.push(segment)
          tally(segment, 1)
        }
      })
      segments = adopted.concat(segments)
      for (const segment of adopted)
        if (!segment.count) await serial(() => load(segment)).catch(nothing)
    },
    oldest: () => segments.find((one) => !isOpen(one) && !one.isBusy && one.failures < fewAttempts),
    attempt: (segment) => serial(() => attempt(segment)),
    async replace(segment, parts = []) {
      await serial(async () => {
        if (!isKnown(segment)) return
        for (const { segment: part, stored } of parts) {
          part.name = printName(part, run)
          await storage.append(part.name, true, 0, () => printSegment(stored))
        }
        insert(
          segment,
          parts.map((part) => part.segment),
        )
      })
      await remove(segment)
    },
    leave(send) {
      open.forEach((segment) => {
        const memory = segment.memory!
        const { events, era } = memory
        if (segment.state === state.open && !era.isTrusted) return
        close(segment)
        for (const event of events.slice(memory.stored))
          event.sequence ||= nextSequence && nextSequence++
        const context = contextOf(memory)
        let left = ports.pageEndBytes() - textBytes(JSON.stringify(context))
        const kept = closeLines(events).filter((line) => (left -= textBytes(line) + 1) >= 0)
        if (kept.length === 0) return
        segment.state = state.attempted
        segment.mayBeStored = true
        send(segment, { context, lines: kept }, kept.length === events.length)
      })
    },
    clear() {
      while (segments[0]) void remove(segments[0])
    },
    count: () => count,
    bytes: () => bytes,
    hasUnsaved: () => segments.some(({ memory }) => memory && memory.stored < memory.events.length),
    segments: () => segments,
    contextOf,
  }
}

/**
 * The state of a segment whose run has ended, from its last state. A segment in the state `leaving`
 * may have been sent at the end of its page.
 */
const stateOfEnded = (last: number): number =>
  last === state.leaving ? state.attempted : Math.max(last, state.closed)
