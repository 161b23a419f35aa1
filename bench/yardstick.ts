import { createCorpus, defaultBodySize } from './corpus.ts'
import { median } from './statistics.ts'

const pieces = 9
const eventsPerPiece = 512

/**
 * Tells how much slower this machine is now than it was at its fastest since the call of
 * `createYardstick`: 1.5 when a fixed piece of work takes half as long again. What neighbours of a
 * virtual machine take from its caches and its clock is in no statistics of the kernel's.
 *
 * @param work does the piece and returns the time it took, in any unit
 */
export function createYardstick(work: () => number = createJsonWork()): () => number {
  let fastest = work()
  return () => {
    const now = work()
    fastest = Math.min(fastest, now)
    return now / fastest
  }
}

/** JSON read and written, which is what gateways do most: 50 ms of this process, as CPU time. */
function createJsonWork(): () => number {
  const bodies = createCorpus({ size: defaultBodySize, seed: 1 })
    .slice(0, eventsPerPiece)
    .map((event) => JSON.stringify(event))
  const piece = () => {
    const before = process.cpuUsage()
    for (const body of bodies) JSON.stringify(JSON.parse(body))
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const work = () => median(Array.from({ length: pieces }, piece))
  // At first nothing is compiled.
  work()
  return work
}
