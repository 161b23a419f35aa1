import { limits } from '@intake/contract'
import type { SandboxRecord } from '@intake/sandbox'
import type { Attempt } from './attempt.ts'

/** The body of a log request must be smaller than this, measured before decompression. */
const logBytesMax = 200 * 1024
const paths = new Set(['/api/log', '/api/log/batch', '/api/feedback'])

/** Returns the first violation of a rule that holds in every case; undefined if there is none. */
export function findViolation(seen: {
  attempts: readonly Attempt[]
  records: readonly SandboxRecord[]
  apiKey: string
  mayHaveLargeBodies: boolean
}): string | undefined {
  for (const attempt of seen.attempts) {
    const problem = requestProblem(attempt, seen)
    if (problem !== undefined) return problem
  }
  const ids = new Map<string, string>()
  for (const { kind, id, event, params } of seen.records) {
    if (kind !== 'log') continue
    const key = `${event} ${JSON.stringify(params?.['n'])}`
    const other = ids.get(key)
    if (other !== undefined) return `event ${key} is stored twice, as ${other} and ${id}`
    ids.set(key, id)
  }
  return undefined
}

function requestProblem(
  { seen, path, events, bytes }: Attempt,
  { apiKey, mayHaveLargeBodies }: { apiKey: string; mayHaveLargeBodies: boolean },
): string | undefined {
  const { method, url, headers } = seen
  if (method !== 'POST' || !paths.has(path)) return `a request that nobody needs: ${method} ${url}`
  if (url.includes(apiKey)) return 'the API key is in the URL'
  if (headers['x-api-key'] !== apiKey) return 'the API key is not in the header x-api-key'
  if (events.length > limits.batchEntries) return `${events.length} events in one request`
  if (path === '/api/feedback' || mayHaveLargeBodies || bytes < logBytesMax) return undefined
  return `a log request of ${bytes} bytes`
}
