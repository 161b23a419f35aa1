import { errorCatalogue, type ErrorCode, type IntakeError } from '@intake/contract'
import type { Logger } from '@intake/runtime'
import type { GatewayMetrics } from '../metrics.ts'

export interface Refusals {
  /** @param refusal.apiKeyId undefined before authentication */
  note(refusal: { error: IntakeError; requestId: string; apiKeyId: string | undefined }): void
  /** @param rejection.errors of the rejected entries of one batch */
  noteEntries(rejection: { errors: IntakeError[]; requestId: string; apiKeyId: string }): void
  /** Logs everything that has not been logged yet. */
  close(): void
}

interface Sample {
  apiKeyId: string
  /** Of one of the requests. */
  requestId: string
  /** Number of requests. */
  count: number
}

type RefusedRequests = Sample & { error: IntakeError }
/** Batches whose rejected entries have the same codes. */
type RejectedEntries = Sample & { codes: Partial<Record<ErrorCode, number>> }

const intervalMs = 1_000
/** Beyond this number of lines in a second, API keys are no longer distinguished. */
const linesMax = 1_000

/**
 * Counts every refused request and every rejected batch entry, and logs one line per code, API key and
 * second, with the id of one of the requests. When Redis is down every request is refused, and logging
 * each would cost more than the refusal.
 */
export function createRefusals(options: { metrics: GatewayMetrics; log: Logger }): Refusals {
  const { metrics, log } = options
  const requests = new Map<string, RefusedRequests>()
  const entries = new Map<string, RejectedEntries>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    for (const line of requests.values()) write(log, line)
    for (const line of entries.values()) log.info(line, 'batch entries rejected')
    requests.clear()
    entries.clear()
  }

  return {
    note({ error, requestId, apiKeyId = 'none' }) {
      metrics.refused(error.code)
      lineOf(requests, error.code, { error, apiKeyId, requestId, count: 0 }).count++
      timer ??= setTimeout(flush, intervalMs)
    },

    noteEntries({ errors, requestId, apiKeyId }) {
      if (errors.length === 0) return
      for (const { code } of errors) metrics.entryRejected(code)
      const names = [...new Set(errors.map(({ code }) => code))].toSorted().join()
      const line = lineOf(entries, names, { apiKeyId, requestId, count: 0, codes: {} })
      line.count++
      for (const { code } of errors) line.codes[code] = (line.codes[code] ?? 0) + 1
      timer ??= setTimeout(flush, intervalMs)
    },
    close: flush,
  }
}

/** The line for these codes and this API key; `fresh` if there is none yet. */
function lineOf<Line extends Sample>(lines: Map<string, Line>, codes: string, fresh: Line): Line {
  const apiKeyId = lines.size < linesMax ? fresh.apiKeyId : 'several'
  const name = `${codes} ${apiKeyId}`
  const known = lines.get(name)
  if (known !== undefined) return known
  const line = { ...fresh, apiKeyId }
  lines.set(name, line)
  return line
}

const isOurFault = (code: ErrorCode) => errorCatalogue[code].status >= 500

function write(log: Logger, { error, ...fields }: RefusedRequests): void {
  const { code } = error
  if (code === 'internal_error') log.error({ err: error, code, ...fields }, 'unexpected error')
  else if (isOurFault(code)) log.warn({ err: error, code, ...fields }, 'requests refused')
  else log.info({ code, ...fields }, 'requests refused')
}
