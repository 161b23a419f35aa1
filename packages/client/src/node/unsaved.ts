import { printFirstName } from '../core/entry-name.ts'
import type { LogQueue } from '../core/log-queue.ts'
import { numberLines, textOf } from '../core/segment.ts'

/**
 * Takes the events that are only in memory, for a synchronous write when the process ends.
 *
 * @param reserve reserves sequence numbers; returns the first
 */
export function takeUnsaved(
  queue: Pick<LogQueue, 'segments' | 'contextOf'>,
  run: string,
  reserve: (count: number) => number,
): { name: string; text: string }[] {
  return queue.segments().flatMap((segment) => {
    const { memory } = segment
    if (!memory || memory.stored === memory.lines.length) return []
    const { stored, lines, numbered } = memory
    const end = lines.length
    if (numbered < end) numberLines(memory, end, reserve(end - stored))
    if (stored === 0) segment.name = printFirstName(segment, run)
    const text = textOf(memory, end, queue.contextOf(memory))
    memory.stored = end
    return [{ name: segment.name, text }]
  })
}
