import type { DayCount } from '@intake/access'
import type { RecordKind } from '@intake/contract'
import type { Problem } from '@intake/health'
import type { BacklogMonitor } from '@intake/queue'
import type { ReportingProcesses, ReportingService } from '@intake/redis'

export type Backlog = Pick<
  NonNullable<ReturnType<BacklogMonitor['of']>>,
  'rows' | 'oldestAgeSeconds' | 'secondsToDrain'
>

export interface KeyBudget {
  name: string
  limit: DayCount
  share: number
}

/** A newer worker may report unknown codes. */
export type PageProblem = Omit<Problem, 'code'> & { code: string; title: string }

/** What is known without asking ClickHouse, so a view can always show it. */
export interface WorkerState {
  /** Undefined if Redis does not respond. */
  backlog(kind: RecordKind): Backlog | undefined
  /** What causes others first. */
  problems(): readonly PageProblem[]
  /** All records accepted before this time, in ms since 1970, were visible when it was read. */
  visibleUntilMs(kind: RecordKind): number | undefined
  deadLetters(): number | undefined
  /** Why this console makes no thumbnails; undefined if it makes them, or has had no picture yet. */
  noThumbnails(): string | undefined
  keyNames(): Promise<ReadonlyMap<string, string>>
  /** The applications that API keys name, and prefixes that end in `.*`. */
  scopes(): Promise<readonly string[]>
  keyBudgets(): Promise<readonly KeyBudget[]>
  /** Undefined if Redis does not respond. */
  processes(): Promise<Record<ReportingService, ReportingProcesses> | undefined>
}

export interface Header {
  nowMs: number
  freshness: Record<RecordKind, Freshness>
  deadLetters: number
  problems: readonly PageProblem[]
  noThumbnails: string | undefined
  /** The application to which the reader has limited all views; undefined: all applications. */
  app: string | undefined
  applications: readonly string[]
  path: string
  query: URLSearchParams
}

export interface Freshness {
  visibleUntilMs: number | undefined
  isLate: boolean
  backlog: Backlog | undefined
}

/** In ordinary operation it is less: a gateway may take 30 seconds to accept a feedback. */
const lateMs = 75_000

export function readHeader(
  state: WorkerState,
  request: Partial<Pick<Header, 'app' | 'applications' | 'path' | 'query'>> = {},
): Header {
  const { app, applications = [], path = '/', query = new URLSearchParams() } = request
  const nowMs = Date.now()
  const freshnessOf = (kind: RecordKind): Freshness => {
    const visibleUntilMs = state.visibleUntilMs(kind)
    const isLate = visibleUntilMs !== undefined && nowMs - visibleUntilMs > lateMs
    return { visibleUntilMs, isLate, backlog: state.backlog(kind) }
  }
  return {
    nowMs,
    freshness: { logs: freshnessOf('logs'), feedback: freshnessOf('feedback') },
    deadLetters: state.deadLetters() ?? 0,
    problems: state.problems(),
    noThumbnails: state.noThumbnails(),
    app,
    applications,
    path,
    query,
  }
}
