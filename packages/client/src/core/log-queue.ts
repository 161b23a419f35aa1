import type { Core } from './core.ts'
import * as state from './entry-name.ts'
import { printName, type ParsedName } from './entry-name.ts'
import { batchMax, fewAttempts, segmentBytesMax, segmentsMin } from './limits.ts'
import { closeLine } from './log-line.ts'
import {
  newSegment,
  parseSegment,
  printSegment,
  type Context,
  type Segment,
  type SegmentMemory,
  type StoredSegment,
} from './segment.ts'
import { createSerial } from './serial.ts'
import { textBytes } from './text-bytes.ts'

export interface LogQueue {
  /**
   * Adds an event to the open segment, in memory; `save` stores it.
   *
   * @param line from `printLine`
   */
  add(line: string, user: string): void
  /** Closes the open segment, so that it can be sent. */
  close(): void
  /** Stores events that are in memory only, and marks closed segments as closed in storage. */
  save(): Promise<void>
  /** Takes over segments of ended runs: the newest entry of each key, oldest first. */
  adopt(names: readonly ParsedName[]): Promise<void>
  /** The oldest closed segment that can be sent now. */
  oldest(): Segment | undefined
  /**
   * Marks a segment as attempted, in storage, and reads it.
   *
   * @returns undefined if the segment is gone
   */
  attempt(segment: Segment): Promise<StoredSegment | undefined>
  /** Replaces a segment by others, or deletes it. */
  replace(
    segment: Segment,
    parts?: readonly { segment: Segment; stored: StoredSegment }[],
  ): Promise<void>
  /** Closes the open segment at the end of the page; returns its events as far as they fit. */
  leave(bytesMax: number): { segment: Segment; stored: StoredSegment; isAll: boolean } | undefined
  /** Deletes all events, in memory and in storage. */
  clear(): void
  count(): number
  bytes(): number
  /** Whether an event is in memory only. */
  hasUnsaved(): boolean
  /** Events that are in memory only, for a synchronous write when the process ends. */
  unsaved(): { name: string; text: string }[]
}

/** The log events that wait: one open segment of this run, and closed ones, oldest first. */
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
      const mayLeave = ports.sendsAtPageEnd()
      open = newSegment({
        key: newId(),
        state: mayLeave ? state.leaving : state.open,
        memory: { user, era, mayLeave, lines: [], numbered: 0, stored: 0 },
      })
      segments.push(open)
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

  function evict(): boolean {
    const victim = segments.find(({ isBusy }) => !isBusy)
    if (!victim) return false
    drops.add('queue_full', victim.count)
    void remove(victim)
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
    count -= segment.count
    bytes -= segment.bytes
    if (open === segment) open = undefined
  }

  function close(): void {
    if (open) open.state = state.closed
    open = undefined
  }

  /** Makes storage agree with the state of a segment of this run. */
  async function store(segment: Segment): Promise<void> {
    const memory = await write(segment)
    if (!memory || segment === open) return
    if (memory.stored === memory.lines.length && (await rename(segment))) segment.memory = undefined
  }

  /** Stores the events that are in memory only. */
  async function write(segment: Segment): Promise<SegmentMemory | undefined> {
    const { memory } = segment
    if (!memory || !isKnown(segment)) return undefined
    const { stored, lines } = memory
    const end = lines.length
    if (stored === end) return memory
    const print = (first: number) => {
      number(memory, end, first)
      return textOf(memory, end)
    }
    if (stored === 0) segment.name = printName({ ...segment, count: 0, bytes: 0 }, run)
    if (await storage.append(segment.name, stored === 0, end - stored, print)) {
      memory.stored = end
      // Segments of few events have more of it than of events.
      if (stored === 0) grow(segment, 0, textBytes(JSON.stringify(contextOf(memory))))
      return memory
    }
    // Another run has taken the stored part; the rest becomes a segment of its own.
    lines.splice(0, stored)
    memory.numbered -= stored
    memory.stored = 0
    segment.key = newId()
    grow(segment, -stored, 0)
    return write(segment)
  }

  /**
   * Gives sequence numbers to the lines before `end`; the first line that is not stored gets
   * `first`.
   */
  function number(memory: SegmentMemory, end: number, first: number): void {
    for (; memory.numbered < end; memory.numbered++) {
      const at = memory.numbered
      memory.lines[at] = closeLine(memory.lines[at]!, first && first + at - memory.stored)
    }
    if (first) nextSequence = first + end - memory.stored
  }

  /**
   * The text of the lines before `end` that are not stored. At the start of a segment the context
   * comes first.
   */
  function textOf(memory: SegmentMemory, end: number): string {
    const lines = memory.lines.slice(memory.stored, end)
    if (memory.stored > 0) return `${lines.join('\n')}\n`
    return printSegment({ context: contextOf(memory), lines })
  }

  /** Renames a segment in storage to match its state. Resolves to false if it is gone. */
  async function rename(segment: Segment): Promise<boolean> {
    const name = printName(segment, run)
    if (name === segment.name) return true
    try {
      const isThere = await storage.rename(segment.name, name)
      if (isThere) segment.name = name
      else forget(segment)
      return isThere
    } catch {
      // Continues without the rename. If records waited for it while storage is full, they could
      // not be sent and storage would stay full.
      return true
    }
  }

  async function attempt(segment: Segment): Promise<StoredSegment | undefined> {
    const memory = await write(segment)
    if (!isKnown(segment)) return undefined
    const stored = memory
      ? { context: contextOf(memory), lines: memory.lines.slice() }
      : await load(segment)
    if (!stored) return undefined
    if (segment.state !== state.attempted) {
      const { era, run: owner } = stored.context
      segment.shiftMs = clock.shiftFor(era, owner === run)
      segment.state = state.attempted
    }
    if (!(await rename(segment))) return undefined
    segment.memory = undefined
    return stored
  }

  /**
   * Reads a segment and corrects its count. Resolves to undefined, and removes the segment, if it
   * has no events.
   */
  async function load(segment: Segment): Promise<StoredSegment | undefined> {
    const text = (await storage.read(segment.name)) || ''
    const stored = parseSegment(text)
    const { length } = stored.lines
    // If the text is missing, another run has sent the segment: nothing was damaged.
    if (text) drops.add('damaged', Math.max(segment.count - length, 0))
    if (isKnown(segment))
      grow(segment, length - segment.count, Math.max(0, textBytes(text) - segment.bytes))
    if (length > 0) return stored
    void remove(segment)
    return undefined
  }

  return {
    add,
    close,
    async save() {
      for (const segment of segments.slice()) if (segment.memory) await serial(() => store(segment))
    },
    async adopt(names) {
      const adopted: Segment[] = []
      names.forEach(({ name, run: _run, ...entry }, at) => {
        const next = names[at + 1]
        if (next && next.key === entry.key) void serial(() => storage.remove(name))
        else if (segments.every(({ key }) => key !== entry.key)) {
          // An open segment may have been sent when its page ended.
          if (entry.state === state.leaving) entry.state = state.attempted
          adopted.push(newSegment({ ...entry, name }))
          count += entry.count
          bytes += entry.bytes
        }
      })
      segments = adopted.concat(segments)
      for (const segment of adopted) if (!segment.count) await serial(() => load(segment))
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
        for (const { segment: part } of parts) {
          count += part.count
          bytes += part.bytes
        }
      })
      await remove(segment)
    },
    leave(bytesMax) {
      const segment = open
      close()
      if (!segment) return undefined
      const memory = segment.memory!
      const { lines, mayLeave, era } = memory
      if (!mayLeave && !era.isTrusted) return undefined
      number(memory, lines.length, nextSequence)
      const context = contextOf(memory)
      let left = bytesMax - textBytes(JSON.stringify(context))
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
    unsaved: () =>
      segments.flatMap((segment) => {
        const { memory } = segment
        if (!memory || memory.stored === memory.lines.length) return []
        const end = memory.lines.length
        number(memory, end, nextSequence)
        if (memory.stored === 0) segment.name = printName({ ...segment, count: 0, bytes: 0 }, run)
        const text = textOf(memory, end)
        memory.stored = end
        return [{ name: segment.name, text }]
      }),
  }
}
