import { parseWorkerReport, type Problem } from '@intake/health'
import { byCause } from '@intake/health/problem-catalogue'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'

/** A problem as a worker reports it. A worker of another version may have other codes. */
export type ReportedProblem = Omit<Problem, 'code'> & { code: string }

export type Reported = ReturnType<typeof startReported>

const intervalMs = 5_000
const timeoutMs = 3_000
/** Problems that were read longer ago are not shown. */
const freshMs = 15_000

/**
 * Reads at intervals what workers report.
 *
 * @param options.read reads the texts of the reports
 * @param options.onFeedback called when feedback may have become visible
 */
export function startReported(options: {
  read: () => Promise<readonly string[]>
  onFeedback: () => void
  onError: (error: unknown) => void
  clock?: Clock
}) {
  const { read, onFeedback, onError, clock = systemClock } = options
  let known: { at: number; problems: readonly ReportedProblem[] } | undefined
  let visible = ''
  let failure: string | undefined

  const { close } = startPolling({
    async poll() {
      const texts = await withTimeout(read(), timeoutMs, 'reading the reports of workers', clock)
      const reports = texts.flatMap((text) => parseWorkerReport(text) ?? [])
      failure = undefined
      known = { at: clock.now(), problems: reports.flatMap(({ problems }) => problems) }
      // Not the sum of their frames: a worker that was replaced may have stored as many.
      const counts = reports.map(({ feedback: { frames, oldestMs } }) => `${frames} ${oldestMs}`)
      const now = counts.toSorted().join()
      if (now !== visible) onFeedback()
      visible = now
    },
    intervalMs,
    onError(error) {
      failure = error instanceof Error ? error.message : String(error)
      onError(error)
    },
    clock,
  })
  return {
    /** The problems of all workers, unjoined; empty while Redis cannot be read. */
    problems: () => (known !== undefined && clock.now() - known.at < freshMs ? known.problems : []),
    /** Why the last attempt to read the reports failed; undefined if it did not. */
    failure: () => failure,
    close,
  }
}

/**
 * Joins the same problem of several processes: the oldest time, the worst state, all details.
 * Causes come first.
 */
export function join(problems: readonly ReportedProblem[]): ReportedProblem[] {
  const joined = new Map<string, ReportedProblem>()
  for (const problem of problems) {
    const one = joined.get(problem.code)
    if (one === undefined) joined.set(problem.code, { ...problem })
    else {
      if (problem.since < one.since) one.since = problem.since
      if (problem.state === 'down') one.state = 'down'
      // All workers read the same queues, each at another moment: their numbers differ.
      const shape = (text: string) => text.replaceAll(/\d+/g, '')
      const isNew = !one.detail.split('; ').some((part) => shape(part) === shape(problem.detail))
      if (isNew) one.detail += `; ${problem.detail}`
    }
  }
  return [...joined.values()].toSorted(byCause)
}
