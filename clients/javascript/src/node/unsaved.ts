import { printFirstName } from '../core/entry-name.ts'
import { contextOf } from '../core/segment-list.ts'
import { textOf } from '../core/segment.ts'
import type { State } from '../core/state.ts'

/**
 * Takes the events that are in no file, for a synchronous write when the process ends. Of events
 * that a full storage refused, only those of open segments are taken.
 */
export function takeUnsaved(
  client: State,
  files: {
    existsSync: (name: string) => boolean
    /** Reserves sequence numbers; returns the first one, or 0 if that failed. */
    reserve: (count: number) => number
  },
): { name: string; text: string }[] {
  return client.segments.flatMap((segment) => {
    const { memory } = segment
    if (!memory) return []
    // A segment without a file is stored only in memory: for example, because storage was full.
    if (!files.existsSync(segment.name)) memory.written = 0
    const { written, events } = memory
    const end = events.length
    if (written === end) return []
    const unnumbered = events.slice(written).filter(({ sequence }) => !sequence)
    let next = files.reserve(unnumbered.length)
    for (const event of unnumbered) event.sequence = next ? next++ : undefined
    if (written === 0) segment.name = printFirstName(segment, client.run)
    const text = textOf(memory, end, contextOf(client, memory))
    memory.written = end
    return [{ name: segment.name, text }]
  })
}
