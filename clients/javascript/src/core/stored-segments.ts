import { addDrops } from './drops.ts'
import { attempted, printFirstName, printName, stateOfEnded } from './entry-name.ts'
import type { LogEntry } from './log-event.ts'
import {
  newSegment,
  parseSegment,
  printLines,
  shiftOf,
  textOf,
  type Context,
  type Segment,
  type SegmentMemory,
  type StoredSegment,
} from './segment.ts'
import { contextOf, forget, insert, isKnown, isOpen } from './segment-list.ts'
import { newId, type State } from './state.ts'
import { textBytes } from './text-bytes.ts'
import { nothing } from './with-fallback.ts'

/**
 * Stores the events of a segment of this run. If the segment is closed, also stores its state,
 * which is part of its name in storage.
 */
export const store = async (client: State, segment: Segment): Promise<void> => {
  const memory = await write(client, segment)
  if (!memory || isOpen(segment) || memory.written < memory.events.length) return
  if (await rename(client, segment)) segment.memory = undefined
}

/**
 * Marks a segment as attempted in storage, then returns its content. The returned content of a
 * segment of another run is read after the mark, because the other run may append to the segment
 * until then. Rejects if the segment cannot be read now.
 *
 * @returns undefined if the segment no longer exists
 */
export const attempt = (client: State, segment: Segment): Promise<StoredSegment | undefined> =>
  client.inOrder(async () => {
    const memory = await write(client, segment)
    if (!isKnown(client, segment)) return undefined
    const own = memory && { context: contextOf(client, memory), events: memory.events }
    if (segment.state !== attempted) {
      const stored = own || (await load(client, segment))
      if (!stored) return undefined
      segment.shiftMs = shiftOf(client, stored)
      segment.state = attempted
    }
    if (!(await rename(client, segment))) return undefined
    segment.memory = undefined
    return own || load(client, segment)
  })

/** Replaces a segment by others with the same context; leaves out those without events. */
export const replace = async (
  client: State,
  segment: Segment,
  context: Context,
  parts: readonly [fields: Parameters<typeof newSegment>[0], events: readonly LogEntry[]][],
): Promise<void> => {
  await client.inOrder(async () => {
    for (const [fields, events] of parts) {
      if (!events[0] || !isKnown(client, segment)) continue
      const text = printLines([context, ...events])
      const part = newSegment({ ...fields, count: events.length, byteCount: textBytes(text) })
      part.name = printName(part, client.run)
      await client.records.append(part.name, true, 0, () => text)
      insert(client, segment, part)
    }
  })
  await remove(client, segment)
}

export const remove = (client: State, segment: Segment): Promise<void> => {
  forget(client, segment)
  return client.inOrder(async () => {
    if (segment.name) await client.records.remove(segment.name)
  })
}

/**
 * Reads a segment and corrects its size. If the segment no longer exists or has no events, removes
 * it and resolves to undefined. If it cannot be read, keeps it and rejects.
 */
export const load = async (client: State, segment: Segment): Promise<StoredSegment | undefined> => {
  const text = (await client.records.read(segment.name)) || ''
  const stored = parseSegment(text)
  const { length } = stored.events
  // If there is no text, another run has sent the segment, so nothing was damaged.
  if (text) addDrops(client, 'damaged', segment.count - length)
  segment.count = length
  segment.byteCount = textBytes(text)
  if (length) return stored
  void remove(client, segment)
  return undefined
}

/**
 * Appends the events that are only in memory to the stored segment. Resolves to undefined if the
 * segment has no memory or was removed.
 */
const write = async (client: State, segment: Segment): Promise<SegmentMemory | undefined> => {
  const { memory } = segment
  if (!memory || !isKnown(client, segment)) return undefined
  const { written, events } = memory
  const end = events.length
  if (written === end) return memory
  if (!written) segment.name = printFirstName(segment, client.run)
  const isThere = await client.records
    .append(segment.name, !written, end - written, (first) => {
      for (const event of events.slice(written, end)) event.sequence = first ? first++ : undefined
      client.nextSequence = first
      return textOf(memory, end, contextOf(client, memory))
    })
    .catch(nothing)
  if (isThere) {
    memory.written = end
    return memory
  }
  if (!isKnown(client, segment)) return undefined
  // The append failed, so the lines that are not stored move to a new segment. If storage is full
  // or broken, the stored lines remain a segment, whose size `load` corrects. If the name does not
  // exist, another run has taken over the stored lines.
  const { key, name, state } = segment
  const byteCount = textBytes(printLines(events.splice(0, written)))
  const part = newSegment({ key, name, state: stateOfEnded(state), count: written, byteCount })
  if (isThere === undefined) insert(client, segment, part)
  memory.written = 0
  segment.key = newId(client)
  segment.count -= written
  segment.byteCount -= byteCount
  return write(client, segment)
}

/** Renames a segment in storage to match its state. Resolves to false if it is not in storage. */
const rename = async (client: State, segment: Segment): Promise<boolean> => {
  const name = printName(segment, client.run)
  // Continues if the rename fails. Otherwise records could not be sent while storage is full, and
  // storage would remain full.
  const isThere =
    name === segment.name || (await client.records.rename(segment.name, name).catch(nothing))
  if (isThere) segment.name = name
  if (isThere === false) forget(client, segment)
  return isThere !== false
}
