import type { Round } from './measure.ts'
import { median } from './statistics.ts'

/** CPU per event of `bare` where the limits in units of time were set: 23 to 26 µs. */
const referenceBareMicros = 25

/**
 * How many times longer the same work takes here than where the limits were set.
 *
 * @param bare rounds of `bare` in the suite that has the limit: a closed loop, with nothing else running
 */
export function slowdownOf(bare: readonly Pick<Round, 'cpuPerEvent'>[]): number {
  return median(bare.map(({ cpuPerEvent }) => cpuPerEvent.gateway)) / referenceBareMicros
}

/** For the method text of a suite with such a limit. */
export const slowdownMethod = `The limit in units of time is from measurements in which \`bare\` took ${referenceBareMicros} µs of CPU per event. Here
it is multiplied by the slowdown: what \`bare\` takes in rounds of this suite, divided by ${referenceBareMicros} µs.`
