import { errorCatalogue, type ErrorCode, type IntakeError } from '@intake/contract'
import type { Logger } from '@intake/runtime'
import type { GatewayMetrics } from './metrics.ts'

export interface Refusals {
  /** @param refusal.apiKeyId undefined before authentication */
  note(refusal: { error: IntakeError; requestId: string; apiKeyId: string | undefined }): void
  /** Writes what has not been logged yet. */
  close(): void
}

interface Line {
  error: IntakeError
  apiKeyId: string
  requestId: string
  count: number
}

const intervalMs = 1_000
/** Beyond it the API keys of a second are not told apart. */
const linesMax = 1_000

/**
 * Counts every refused request, and logs one line for each code, API key and second, with the id of one
 * of its requests. Without Redis every request is refused, and a line for each would cost more than
 * the refusal.
 */
export function createRefusals(options: { metrics: GatewayMetrics; log: Logger }): Refusals {
  const { metrics, log } = options
  const lines = new Map<string, Line>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    for (const line of lines.values()) write(log, line)
    lines.clear()
  }

  return {
    note({ error, requestId, apiKeyId = 'none' }) {
      metrics.refused(error.code)
      const account = lines.size < linesMax ? apiKeyId : 'several'
      const name = `${error.code} ${account}`
      const line = lines.get(name)
      if (line === undefined) lines.set(name, { error, apiKeyId: account, requestId, count: 1 })
      else line.count++
      timer ??= setTimeout(flush, intervalMs)
    },
    close: flush,
  }
}

const isOurFault = (code: ErrorCode) => errorCatalogue[code].status >= 500

function write(log: Logger, { error, ...fields }: Line): void {
  const { code } = error
  if (code === 'internal_error') log.error({ err: error, code, ...fields }, 'unexpected error')
  else if (isOurFault(code)) log.warn({ err: error, code, ...fields }, 'requests refused')
  else log.info({ code, ...fields }, 'requests refused')
}
