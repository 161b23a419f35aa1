import type { RecordKind } from '@intake/contract'
import type { Problem } from '@intake/health'
import type { BacklogMonitor } from '@intake/queue'
import type { ReportingProcesses, ReportingService } from '@intake/redis'

/** The queue of one kind of record, for all workers together. */
export type Backlog = Pick<
  NonNullable<ReturnType<BacklogMonitor['of']>>,
  'waiting' | 'active' | 'delayed' | 'rows' | 'oldestAgeSeconds' | 'secondsToDrain'
>

/** An API key that has used most of what it may send in a day. */
export interface KeyBudget {
  name: string
  /** What the budget limits. */
  limit: 'events' | 'bytes'
  /** The part that is used; 1 is all of it. */
  share: number
}

/** A problem that the console or a worker has found. A newer worker may report unknown codes. */
export type PageProblem = Omit<Problem, 'code'> & { code: string; title: string }

/** What is known without asking ClickHouse, so a view can always show it. */
export interface WorkerState {
  /** Undefined if Redis does not respond. */
  backlog(kind: RecordKind): Backlog | undefined
  /** What causes others first. */
  problems(): readonly PageProblem[]
  /**
   * The time up to which all accepted records are visible, in ms since 1970, as it was last
   * read; undefined if it has never read it.
   */
  visibleUntilMs(kind: RecordKind): number | undefined
  /** The number of dead letters; undefined if it is not known. */
  deadLetters(): number | undefined
  /** Why this console makes no thumbnails; undefined if it makes them, or has had no picture yet. */
  noThumbnails(): string | undefined
  /** The names of API keys by their ids. Resolves to an empty map if Redis does not respond. */
  keyNames(): Promise<ReadonlyMap<string, string>>
  /** API keys near the end of their daily budget; empty if Redis does not respond. */
  keyBudgets(): Promise<readonly KeyBudget[]>
  /** How many gateways and workers report or have stopped; undefined if Redis does not respond. */
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
  /** The applications to choose from. */
  applications: readonly string[]
  /** The path and query string of the view. */
  url: string
}

export interface Freshness {
  visibleUntilMs: number | undefined
  /** Whether `visibleUntilMs` is further in the past than in ordinary operation. */
  isLate: boolean
  backlog: Backlog | undefined
}

/**
 * Records are late if `visibleUntilMs` is further in the past than this. In ordinary operation it
 * is up to a minute in the past: for example, a gateway may take 30 seconds to accept a feedback.
 */
const lateMs = 75_000

export function readHeader(
  state: WorkerState,
  { app, applications = [], url = '/' }: Partial<Pick<Header, 'app' | 'applications' | 'url'>> = {},
  nowMs = Date.now(),
): Header {
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
    url,
  }
}
