import { systemClock, type Clock } from './clock.ts'

const firstPauseMs = 1_000
const longestPauseMs = 60_000
/**
 * The maximum number of kinds that are remembered, more than any source of errors has. Beyond it
 * the oldest kind is forgotten, so the next error of that kind is reported at once.
 */
const kindsMax = 100

interface Kind {
  reportedAt: number
  pauseMs: number
  omitted: number
}

/**
 * Reports the first error of a kind at once. After each report, errors of that kind are omitted:
 * for a second, then for two, four and so on up to a minute. The next report has the number
 * omitted. A kind that has not occurred for a minute beyond its pause counts as new.
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
