import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Connection } from './connection.ts'

/** Refusals after which a client sends the same bytes again. The caller gets any other. */
const temporary: ReadonlySet<string | undefined> = new Set([
  'queue_full',
  'busy',
  'queue_unavailable',
  'outcome_unknown',
])

/** The error code of a response. */
export function codeOf({ body }: Answer): string | undefined {
  return /"code":"(\w+)"/.exec(body.toString())?.[1]
}

/**
 * Sends a request, and again after `Retry-After` while it is refused for a temporary reason.
 *
 * @param options.deadline on the clock of `performance.now()`; a refusal after it is the result
 */
export async function sendUntilTaken(options: {
  connection: Pick<Connection, 'send'>
  request: Buffer
  deadline: number
  onRefused: (code: string) => void
}): Promise<Answer> {
  const { connection, request, deadline, onRefused } = options
  for (;;) {
    const answer = await connection.send(request)
    const { retryAfterMs } = answer
    if (retryAfterMs === undefined || performance.now() > deadline) return answer
    const code = codeOf(answer)
    if (code === undefined || !temporary.has(code)) return answer
    onRefused(code)
    await pause(retryAfterMs)
  }
}
