import { errorCatalogue, type ErrorCode, type IntakeError, type RecordKind } from '@intake/contract'
import { helpOf } from '@intake/health/problem-catalogue'
import type { Logger } from '@intake/runtime/process'
import type { GatewayProblems } from './problems.ts'
import type { GatewayMetrics } from './metrics.ts'

/**
 * A refused request. Nothing of it was stored, unless the code is `outcome_unknown` or
 * `internal_error`: then its records may have been stored.
 */
export interface Refused {
  error: IntakeError
  requestId: string
  apiKeyId: string | undefined
  /** The kind of record that the request is for; empty if the operation takes no records. */
  kind: RecordKind | ''
  records: number
}

export type Refusals = ReturnType<typeof createRefusals>

/** What one log line says: refusals or rejections of one API key with one code. */
interface Line {
  error: IntakeError
  apiKeyId: string
  /** The id of one of the requests that `count` counts. */
  requestId: string
  count: number
}

const intervalMs = 1_000
/**
 * The maximum number of log lines per second. It applies separately to refused requests and to
 * rejected entries. Beyond it, all API keys share one line per code.
 */
const linesMax = 1_000

/**
 * Counts every refused request and every rejected batch entry in the metrics, and logs one line per
 * code, API key and second, with the id of one of the requests. When Redis is down every request is
 * refused, and a log line for each would cost more than the refusal.
 */
export function createRefusals(options: {
  metrics: GatewayMetrics
  problems: Pick<GatewayProblems, 'note'>
  log: Logger
  isClosing: () => boolean
}) {
  const { metrics, problems, log, isClosing } = options
  const requests = new Map<string, Line>()
  const entries = new Map<string, Line>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    for (const line of requests.values()) write(log, line)
    for (const { error, ...fields } of entries.values()) {
      log.info({ code: error.code, ...fields }, 'batch entries rejected')
    }
    requests.clear()
    entries.clear()
  }

  function noteProblem(code: ErrorCode): void {
    // A closing gateway refuses requests with `busy`, too, although it is not overloaded.
    if (code === 'busy' && !isClosing()) {
      problems.note('overloaded', 'requests got 503 `busy`', 15_000)
    }
    if (code === 'internal_error') problems.note('request_refused', 'requests got 500')
  }

  return {
    note({ error, requestId, apiKeyId, kind, records }: Refused): void {
      const { code } = error
      metrics.refused({ code, kind, records })
      noteProblem(code)
      count(requests, { error, apiKeyId: apiKeyId ?? 'none', requestId, count: 1 })
      timer ??= setTimeout(flush, intervalMs)
    },

    /** @param rejection.errors one error for each rejected entry of a batch; not empty */
    noteEntries(rejection: {
      errors: readonly IntakeError[]
      requestId: string
      apiKeyId: string
    }): void {
      const { errors, requestId, apiKeyId } = rejection
      for (const error of errors) {
        metrics.entryRejected(error.code)
        noteProblem(error.code)
        count(entries, { error, apiKeyId, requestId, count: 1 })
      }
      timer ??= setTimeout(flush, intervalMs)
    },
    close: flush,
  }
}

function count(lines: Map<string, Line>, one: Line): void {
  const apiKeyId = lines.size < linesMax ? one.apiKeyId : 'several'
  const name = `${one.error.code} ${apiKeyId}`
  const known = lines.get(name)
  if (known === undefined) lines.set(name, { ...one, apiKeyId })
  else known.count++
}

const help = helpOf('request_refused')
const isOurFault = (code: ErrorCode) => errorCatalogue[code].status >= 500

function write(log: Logger, { error, ...fields }: Line): void {
  const { code } = error
  if (code === 'internal_error')
    log.error({ err: error, code, ...fields, help }, 'unexpected error')
  else if (isOurFault(code)) log.warn({ err: error, code, ...fields, help }, 'requests refused')
  else log.info({ code, ...fields }, 'requests refused')
}
