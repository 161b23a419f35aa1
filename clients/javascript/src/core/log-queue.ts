import { eraOf } from './clock.ts'
import { addDrops } from './drops.ts'
import { leaving, open, stateOfEnded, type ParsedName } from './entry-name.ts'
import { batchMax, segmentBytesMax, segmentsMin } from './limits.ts'
import { jsonBytes, type LogEntry } from './log-event.ts'
import { newSegment, type Segment } from './segment.ts'
import { bytesOf, close, contextOf, countOf, isOpen } from './segment-list.ts'
import { wake } from './sending.ts'
import { newId, type State } from './state.ts'
import { load, remove } from './stored-segments.ts'
import { nothing } from './with-fallback.ts'

/**
 * Adds an event to the user's open segment, in memory; `save` stores it. There is one open
 * segment for each user who has logged since the last request. So a process that serves several
 * users needs one file and one request for each user, not for each event.
 */
export const addEntry = (client: State, entry: LogEntry): void => {
  const { options, user } = client
  const {
    batchEntriesMax = batchMax,
    storageBytesMax = 4_000_000,
    storageEventsMax = 5000,
  } = options
  const era = eraOf(client)
  const size = jsonBytes(entry) + 20
  let segment = client.segments.find((one) => isOpen(one) && one.memory!.user === user)
  const hasRoom =
    segment &&
    segment.memory!.era === era &&
    segment.count < Math.min(batchEntriesMax, batchMax, storageEventsMax / segmentsMin) &&
    segment.byteCount + size <= Math.min(segmentBytesMax, storageBytesMax / segmentsMin)
  if (!hasRoom) {
    if (segment) close(segment)
    // A full segment is sent at once, because the end of a page sends only open ones.
    wake(client)
    const memory = { user, era, events: [], written: 0 }
    segment = newSegment({
      key: newId(client),
      state: client.pageEndBytes() ? leaving : open,
      byteCount: jsonBytes(contextOf(client, memory)),
      memory,
    })
    client.segments.push(segment)
  }
  segment!.memory!.events.push(entry)
  segment!.count++
  segment!.byteCount += size
  while (countOf(client) > storageEventsMax || bytesOf(client) > storageBytesMax) {
    const victim = client.segments.find(({ isBusy }) => !isBusy)
    if (!victim) return
    void remove(client, victim)
    addDrops(client, 'queue_full', victim.count)
  }
}

/**
 * Takes over segments of ended runs. If several names have the same key, takes only the last one.
 *
 * @param names in ascending order
 */
export const adopt = async (client: State, names: readonly ParsedName[]): Promise<void> => {
  const { segments, inOrder, records } = client
  const adopted: Segment[] = []
  names.forEach((entry, at) => {
    const next = names[at + 1]
    if (next && next.key === entry.key) void inOrder(() => records.remove(entry.name))
    else if (segments.every(({ key }) => key !== entry.key))
      adopted.push(newSegment({ ...entry, state: stateOfEnded(entry.state) }))
  })
  client.segments = adopted.concat(segments)
  for (const segment of adopted)
    if (!segment.count) await inOrder(() => load(client, segment)).catch(nothing)
}
