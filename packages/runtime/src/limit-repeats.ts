import { systemClock, type Clock } from './clock.ts'

const firstPauseMs = 1_000
const longestPauseMs = 60_000
/** No source has so many kinds of error. The oldest is forgotten, and then reported at once. */
const kindsMax = 100

interface Kind {
  reportedAt: number
  pauseMs: number
  omitted: number
}

/**
 * Reports the first error of a kind at once, then omits its errors for a second. The next one is
 * reported with the number of omitted ones and starts a pause twice as long, up to a minute. After
 * a minute without errors beyond the pause, the kind counts as new.
 *
 * The kind is the `code` of the error, or else the first word of its message (`READONLY`).
 */
export function limitRepeats(
  report: (error: unknown, omitted: number) => void,
  clock: Pick<Clock, 'now'> = systemClock,
): (error: unknown) => void {
  const kinds = new Map<string, Kind>()

  return (error) => {
    const name = kindOf(error)
    const kind = kinds.get(name)
    const sinceMs = kind === undefined ? Infinity : clock.now() - kind.reportedAt
    if (kind !== undefined && sinceMs < kind.pauseMs) {
      kind.omitted++
      return
    }
    const isNew = kind === undefined || sinceMs > kind.pauseMs + longestPauseMs
    const pauseMs = isNew ? firstPauseMs : Math.min(2 * kind.pauseMs, longestPauseMs)
    kinds.delete(name)
    kinds.set(name, { reportedAt: clock.now(), pauseMs, omitted: 0 })
    const [oldest] = kinds.keys()
    if (kinds.size > kindsMax && oldest !== undefined) kinds.delete(oldest)
    report(error, kind?.omitted ?? 0)
  }
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code, message }: NodeJS.ErrnoException = error
  return code ?? /^\S*/.exec(message)?.[0] ?? ''
}
