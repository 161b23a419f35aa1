import type { Clock } from './clock.ts'
import type { Drops } from './drops.ts'
import { isNewer, parseName, type EntryName } from './entry-name.ts'
import { fewAttempts, segmentBytesMax, segmentsMin } from './limits.ts'
import { closeLine } from './log-line.ts'
import type { Ports } from './ports.ts'
import {
  adoptedSegment,
  nameOf,
  newSegment,
  parseSegment,
  printSegment,
  type Context,
  type Segment,
  type SegmentMemory,
  type StoredSegment,
} from './segment.ts'
import type { createSerial } from './serial.ts'
import { textBytes } from './text-bytes.ts'

export interface LogQueue {
  /**
   * Adds an event to the open segment; storing it is for `save`.
   *
   * @param line from `printLine`
   */
  add(line: string, user: string | undefined): void
  /** Closes the open segment, so that it can be sent. */
  close(): void
  /** Stores what is in memory only, and what was closed as closed. */
  save(): Promise<void>
  /** Takes over what ended runs have left. */
  adopt(names: readonly string[]): Promise<void>
  /** The oldest closed segment that can be sent now. */
  oldest(): Segment | undefined
  /**
   * Marks a segment as attempted, in storage, and reads it.
   *
   * @returns undefined: it is gone
   */
  attempt(segment: Segment): Promise<StoredSegment | undefined>
  /** Replaces a segment by others, or by nothing. */
  replace(
    segment: Segment,
    parts: readonly { segment: Segment; stored: StoredSegment }[],
  ): Promise<void>
  /** Closes the open segment for the end of the page; returns its events as far as they fit. */
  leave(bytesMax: number): { segment: Segment; lines: string[]; isAll: boolean } | undefined
  /** Whether an event is in memory only, or a closed segment not closed in storage. */
  hasUnsaved(): boolean
  clear(): void
  count(): number
  bytes(): number
  /** Segments of this run with events that are not stored; for a synchronous write at the exit. */
  unsaved(): { name: string; text: string }[]
  readonly segments: readonly Segment[]
}

export interface LogQueueOptions {
  ports: Pick<Ports<never>, 'storage' | 'time'>
  serial: ReturnType<typeof createSerial>
  clock: Clock
  drops: Drops
  run: string
  newKey: () => string
  entriesMax: number
  bytesMax: number
  eventsMax: number
  /** Whether the end of the page may send a segment that is open. */
  mayLeave: () => boolean
  /** The context of an event of this run, once it is known. */
  contextOf: (memory: Pick<SegmentMemory, 'user' | 'era'>) => Context
}

/** The log events that wait: one open segment of this run, and closed ones, oldest first. */
export function createLogQueue(options: LogQueueOptions): LogQueue {
  const { ports, serial, clock, drops, run, newKey, contextOf } = options
  const { storage } = ports
  const entriesMax = Math.min(options.entriesMax, Math.ceil(options.eventsMax / segmentsMin))
  const segmentBytes = Math.min(segmentBytesMax, Math.ceil(options.bytesMax / segmentsMin))
  let segments: Segment[] = []
  let open: Segment | undefined
  let count = 0
  let bytes = 0
  let lastSequence = 0

  function add(line: string, user: string | undefined): void {
    const era = clock.era()
    const size = textBytes(line) + 20
    let memory = open && open.memory
    if (open && memory) {
      const isFull = open.count >= entriesMax || open.bytes + size > segmentBytes
      if (isFull || memory.era !== era || memory.user !== user) close()
    }
    if (!open) {
      const mayLeave = options.mayLeave()
      memory = { user, era, mayLeave, lines: [], numbered: 0, stored: 0 }
      open = newSegment({ key: newKey(), state: mayLeave ? 'leaving' : 'open', memory })
      segments.push(open)
    }
    open.memory!.lines.push(line)
    grow(open, 1, size)
    while (count > options.eventsMax || bytes > options.bytesMax) if (!evict()) break
  }

  function grow(segment: Segment, events: number, size: number): void {
    segment.count += events
    segment.bytes += size
    count += events
    bytes += size
  }

  function evict(): boolean {
    const victim = segments.find((segment) => !segment.isBusy)
    if (!victim) return false
    drops.add('queue_full', victim.count)
    forget(victim)
    void serial(() => removeStored(victim))
    return true
  }

  async function removeStored({ name }: Segment): Promise<void> {
    if (name) await storage.remove(name)
  }

  function forget(segment: Segment): void {
    const at = segments.indexOf(segment)
    if (at < 0) return
    segments.splice(at, 1)
    count -= segment.count
    bytes -= segment.bytes
    if (open === segment) open = undefined
  }

  function close(): void {
    if (open) open.state = 'closed'
    open = undefined
  }

  async function save(): Promise<void> {
    for (const segment of segments.slice()) {
      if (segment.memory && segments.indexOf(segment) >= 0) await serial(() => store(segment))
    }
  }

  /** Brings storage to the state of a segment of this run. */
  async function store(segment: Segment): Promise<void> {
    await write(segment)
    const { memory } = segment
    if (!memory || segment === open || !isKnown(segment)) return
    if (memory.stored === memory.lines.length && (await rename(segment))) segment.memory = undefined
  }

  /** Stores the events that are in memory only. */
  async function write(segment: Segment): Promise<void> {
    const { memory } = segment
    if (!memory || !isKnown(segment)) return
    const end = memory.lines.length
    if (memory.stored === end) return
    await number(memory, end)
    const isNew = memory.stored === 0
    if (isNew) segment.name = nameOf({ ...segment, count: 0, bytes: 0 }, run)
    const text = textFrom(memory, end)
    if (await storage.append(segment.name, text, isNew)) memory.stored = end
    else await write(moveRest(segment))
  }

  const isKnown = (segment: Segment) => segments.indexOf(segment) >= 0

  /** The lines that are not stored, up to `end`; the first ones with their context. */
  function textFrom(memory: SegmentMemory, end: number): string {
    const lines = memory.lines.slice(memory.stored, end)
    if (memory.stored === 0) return printSegment({ context: contextOf(memory), lines })
    return `${lines.join('\n')}\n`
  }

  /** Gives lines up to `end` their numbers in the sequence of the device. */
  async function number(memory: SegmentMemory, end: number): Promise<void> {
    const from = memory.numbered
    if (from >= end) return
    const first = await storage.reserve(end - from)
    for (let at = from; at < end; at++)
      memory.lines[at] = closeLine(memory.lines[at]!, first + at - from)
    memory.numbered = end
    lastSequence = first + end - from - 1
  }

  /** Another run has taken the stored part; what it cannot have goes into another segment. */
  function moveRest(segment: Segment): Segment {
    const memory = segment.memory!
    const lines = memory.lines.slice(memory.stored)
    const numbered = memory.numbered - memory.stored
    const size = lines.reduce((sum, line) => sum + textBytes(line), 0)
    const rest = newSegment({
      key: newKey(),
      state: segment.state,
      count: lines.length,
      bytes: size,
    })
    rest.memory = { ...memory, lines, numbered, stored: 0 }
    const wasOpen = open === segment
    forget(segment)
    segments.push(rest)
    count += rest.count
    bytes += rest.bytes
    if (wasOpen) open = rest
    return rest
  }

  /** Gives a segment the name of its state. False: it is gone. */
  async function rename(segment: Segment): Promise<boolean> {
    const name = nameOf(segment, run)
    if (name === segment.name) return true
    if (!(await storage.rename(segment.name, name))) {
      forget(segment)
      return false
    }
    segment.name = name
    return true
  }

  async function attempt(segment: Segment): Promise<StoredSegment | undefined> {
    await write(segment)
    if (!isKnown(segment)) return undefined
    const stored = await load(segment)
    if (!stored) return undefined
    if (segment.state !== 'attempted') {
      const { era, run: owner } = stored.context
      segment.shiftMs = clock.shiftFor(era, owner === run)
      segment.state = 'attempted'
    }
    if (!(await rename(segment))) return undefined
    segment.memory = undefined
    return stored
  }

  /** What a segment contains. Undefined: nothing, and it is removed. */
  async function load(segment: Segment): Promise<StoredSegment | undefined> {
    const { memory } = segment
    if (memory) return { context: contextOf(memory), lines: memory.lines.slice() }
    const text = await storage.read(segment.name)
    const stored = text === undefined ? undefined : parseSegment(text)
    const lines = stored ? stored.lines.length : 0
    if (segment.count > lines) drops.add('damaged', segment.count - lines)
    if (isKnown(segment)) grow(segment, lines - segment.count, 0)
    if (lines > 0) return stored
    forget(segment)
    await removeStored(segment)
    return undefined
  }

  /** The newest entry of each key; older ones are what a crash between two steps has left. */
  function newestOf(names: readonly string[]): { text: string; name: EntryName }[] {
    const newest = new Map<string, { text: string; name: EntryName }>()
    for (const text of names) {
      const name = parseName(text)
      if (!name || name.kind !== 'log') continue
      const known = newest.get(name.key)
      const isOld = known !== undefined && isNewer(known.name, name)
      if (known) void serial(() => storage.remove(isOld ? text : known.text))
      if (!isOld) newest.set(name.key, { text, name })
    }
    return Array.from(newest.values()).sort((a, b) => (a.name.key < b.name.key ? -1 : 1))
  }

  async function adopt(names: readonly string[]): Promise<void> {
    const adopted = newestOf(names)
      .filter(({ name }) => segments.every(({ key }) => key !== name.key))
      .map(({ text, name }) => adoptedSegment(text, name))
    segments = adopted.concat(segments)
    for (const segment of adopted) {
      count += segment.count
      bytes += segment.bytes
    }
    for (const segment of adopted) if (segment.count === 0) await serial(() => load(segment))
  }

  return {
    add,
    close,
    save,
    adopt,
    oldest: () => segments.find((one) => one !== open && !one.isBusy && one.failures < fewAttempts),
    attempt: (segment) => serial(() => attempt(segment)),
    replace: (segment, parts) =>
      serial(async () => {
        if (!isKnown(segment)) return
        for (const { segment: part, stored } of parts) {
          part.name = nameOf(part, run)
          await storage.append(part.name, printSegment(stored), true)
        }
        const at = segments.indexOf(segment)
        forget(segment)
        for (const { segment: part } of parts) {
          count += part.count
          bytes += part.bytes
        }
        segments.splice(Math.max(at, 0), 0, ...parts.map((part) => part.segment))
        await removeStored(segment)
      }),
    leave(bytesMax) {
      const segment = open
      const memory = segment && segment.memory
      close()
      if (!segment || !memory) return undefined
      if (!memory.mayLeave && !memory.era.isTrusted) return undefined
      const lines: string[] = []
      let left = bytesMax - textBytes(JSON.stringify(contextOf(memory)))
      for (const line of memory.lines) {
        const at = lines.length - memory.numbered
        const whole = at < 0 ? line : closeLine(line, lastSequence + 1 + at)
        left -= textBytes(whole) + 1
        if (left < 0) break
        lines.push(whole)
      }
      if (lines.length === 0) return undefined
      segment.state = 'attempted'
      segment.mayBeStored = true
      return { segment, lines, isAll: lines.length === memory.lines.length }
    },
    hasUnsaved: () => segments.some(({ memory }) => memory && memory.stored < memory.lines.length),
    clear() {
      segments = []
      open = undefined
      count = 0
      bytes = 0
    },
    count: () => count,
    bytes: () => bytes,
    unsaved() {
      return segments.flatMap((segment) => {
        const { memory } = segment
        if (!memory || memory.stored >= memory.lines.length) return []
        for (let at = memory.numbered; at < memory.lines.length; at++)
          memory.lines[at] = closeLine(memory.lines[at]!, lastSequence && ++lastSequence)
        memory.numbered = memory.lines.length
        const isNew = memory.stored === 0
        if (isNew) segment.name = nameOf({ ...segment, count: 0, bytes: 0 }, run)
        const text = textFrom(memory, memory.lines.length)
        memory.stored = memory.lines.length
        return [{ name: segment.name, text }]
      })
    },
    get segments() {
      return segments
    },
  }
}
