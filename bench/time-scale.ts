import type { Round } from './measure.ts'
import { median } from './statistics.ts'

/** CPU for an event of `bare` where the limits that are times were set: 23 to 26 µs. */
const referenceBareMicros = 25

/** For the method of a suite that has such a limit. */
export const timeScaleMethod = `The limit that is a time was set on a machine on which \`bare\` takes
${referenceBareMicros} µs of CPU per event. It is multiplied by how many times as much it takes in rounds of this suite.`

/**
 * How many times as long the same work takes here as where the limits were set.
 *
 * @param bare rounds of `bare` in the suite that has the limit: a closed loop, nothing beside it
 */
export function timeScale(bare: readonly Pick<Round, 'cpuPerEvent'>[]): number {
  return median(bare.map(({ cpuPerEvent }) => cpuPerEvent.gateway)) / referenceBareMicros
}
