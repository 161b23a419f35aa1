/** A process that has just started needs a moment to connect; this is no outage of a service. */
const startMs = 5_000

/**
 * Separates the first seconds of a process, when nothing is connected yet, from an outage.
 *
 * @param problem why the process cannot work; undefined if it can
 * @returns `starting` and `lasting`, of which at most one has the problem at any time
 */
export function separateStart(
  problem: () => string | undefined,
  uptimeMs: () => number = () => performance.now(),
): { starting: () => string | undefined; lasting: () => string | undefined } {
  let hasWorked = false
  function find(isOfStart: boolean): string | undefined {
    const detail = problem()
    hasWorked ||= detail === undefined
    return isOfStart === (!hasWorked && uptimeMs() < startMs) ? detail : undefined
  }
  return {
    starting() {
      const detail = find(true)
      return detail === undefined ? undefined : `it has just started: ${detail}`
    },
    lasting: () => find(false),
  }
}
