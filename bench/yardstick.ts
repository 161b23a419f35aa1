import { createCorpus, defaultBodySize } from './corpus.ts'
import { median } from './statistics.ts'

const pieces = 9
const eventsPerPiece = 512

/**
 * Tells how much slower this machine is now than it was at its fastest since the call of
 * `createYardstick`: 1.5 when a fixed piece of JavaScript takes half as long again. What neighbours of
 * a virtual machine take from its caches and its clock is in no statistics of the kernel's.
 *
 * The piece is what gateways do most, JSON read and written. It takes 50 ms of this process.
 */
export function createYardstick(): () => number {
  const bodies = createCorpus({ size: defaultBodySize, seed: 1 })
    .slice(0, eventsPerPiece)
    .map((event) => JSON.stringify(event))
  const piece = () => {
    const before = process.cpuUsage()
    for (const body of bodies) JSON.stringify(JSON.parse(body))
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const measure = () => median(Array.from({ length: pieces }, piece))
  // The first one is slower than it will ever be again: nothing is compiled.
  measure()
  let fastest = Infinity
  return () => {
    const now = measure()
    fastest = Math.min(fastest, now)
    return now / fastest
  }
}
