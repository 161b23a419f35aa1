import type { Round } from './measure.ts'
import { median } from './statistics.ts'

/** CPU for an event of `bare` where the limits that are times were set: 23 to 26 µs. */
const referenceBareMicros = 25

/**
 * How many times as long the same work takes here as where the limits were set.
 *
 * @param bare rounds of `bare` in the suite that has the limit: a closed loop, nothing beside it
 */
export function slowdownOf(bare: readonly Pick<Round, 'cpuPerEvent'>[]): number {
  return median(bare.map(({ cpuPerEvent }) => cpuPerEvent.gateway)) / referenceBareMicros
}

/** For the method of a suite that has such a limit. */
export const slowdownMethod = `The requirement names a time, from measurements in which \`bare\` took ${referenceBareMicros} µs of CPU per event. Here
that time is multiplied by how many times as much \`bare\` takes in rounds of this suite.`
