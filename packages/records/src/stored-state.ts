import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { limitRepeats, startPolling } from '@intake/runtime'
import type { Logger } from '@intake/runtime/process'

export interface StoredState {
  deadLetters: Record<RecordKind, number>
  /** An ISO time for each kind. All records of this kind that were accepted earlier are visible. */
  visibleUntil: Partial<Record<RecordKind, string>>
}

export interface StoredStateMonitor {
  /** Undefined while they cannot be read, for example without the right. */
  state(): StoredState | undefined
  /** An old watermark is still correct, because what is visible remains visible. */
  lastVisibleUntil(): StoredState['visibleUntil']
  /** Why the last reading failed; undefined if it succeeded. */
  error(): unknown
  close(): void
}

const defaultIntervalMs = 10_000
/** A state that is older than this is not shown. */
const freshMs = 30_000

/** The state is unknown to a user of ClickHouse who may only insert. `reader` has timeouts. */
export function startStoredStateMonitor(options: {
  reader: Pick<ClickHouse, 'query'>
  log: Pick<Logger, 'warn' | 'debug'>
  /** The documentation page for an error. */
  help: string
  intervalMs?: number
}): StoredStateMonitor {
  const { reader, log, help, intervalMs = defaultIntervalMs } = options
  let known: { at: number; state: StoredState } | undefined
  let lastError: unknown
  const report = limitRepeats((err, omitted) => {
    // Another line reports an outage. This one warns if an operator must act, as for a right.
    const isForOperator = err instanceof ClickHouseError && err.kind === 'operator'
    const what = 'dead letters and watermark could not be read'
    log[isForOperator ? 'warn' : 'debug']({ err, omitted, help }, what)
  })

  const { close } = startPolling({
    async poll() {
      const rows = await reader.query<{ kind: RecordKind; letters: number; until: string }>(
        `SELECT toString(table) AS kind, count() AS letters, '' AS until FROM intake.dead_letters GROUP BY kind
        UNION ALL
        SELECT toString(kind), 0, formatDateTime(visible_until, '%FT%TZ', 'UTC') FROM intake.watermark`,
      )
      const watermarks = rows.filter(({ until }) => until !== '')
      const lettersOf = (kind: RecordKind) =>
        rows.reduce((sum, row) => sum + (row.kind === kind ? row.letters : 0), 0)
      lastError = undefined
      known = {
        at: performance.now(),
        state: {
          deadLetters: { logs: lettersOf('logs'), feedback: lettersOf('feedback') },
          visibleUntil: Object.fromEntries(watermarks.map(({ kind, until }) => [kind, until])),
        },
      }
    },
    intervalMs,
    onError(error) {
      lastError = error
      report(error)
    },
  })

  return {
    state: () =>
      known !== undefined && performance.now() - known.at < freshMs ? known.state : undefined,
    lastVisibleUntil: () => known?.state.visibleUntil ?? {},
    error: () => lastError,
    close,
  }
}
