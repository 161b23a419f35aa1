import type { Attacker } from '../hostile-case.ts'
import { dial } from './connection.ts'

export interface Exchange {
  /**
   * The status of the response; 0 if the connection closed or the timeout expired before a
   * response.
   */
  status: number
  ms: number
  /** True if the connection was still open without a response when the timeout expired. */
  silent: boolean
}

const headerEnd = '\r\n\r\n'

/**
 * Sends bytes over a new connection and reads one response. The response may arrive before all
 * bytes are sent.
 */
export function exchange(
  attacker: Attacker,
  bytes: Buffer | string,
  timeoutMs = 35_000,
): Promise<Exchange> {
  const started = performance.now()
  const socket = dial(attacker)
  let text = ''

  return new Promise((resolve) => {
    const finish = (silent: boolean) => {
      clearTimeout(timer)
      // Leaves a connection without a response open, because the gateway must later exit on SIGTERM
      // despite open connections.
      if (!silent) socket.destroy()
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
      resolve({ status, ms: Math.round(performance.now() - started), silent })
    }
    const timer = setTimeout(finish, timeoutMs, true)
    socket.once('close', () => finish(false))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (isWhole(text)) finish(false)
    })
    socket.write(bytes)
  })
}

function isWhole(text: string): boolean {
  const end = text.indexOf(headerEnd)
  if (end < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1]
  return length !== undefined && text.length >= end + headerEnd.length + Number(length)
}

/**
 * What came of the requests: how many got each status; for how many the connection closed without a
 * response (`lost`); how many had none when the timeout expired (`silent`), or when the attack ended
 * (`unended`). `broken` is the number of responses 5xx, except 503. No request should get such a
 * response.
 */
export type Tally = Record<
  'sent' | 'broken' | 'lost' | 'silent' | 'unended' | 'slowestMs',
  number
> &
  Record<number, number>

export function createTally() {
  const tally: Tally = { sent: 0, broken: 0, lost: 0, silent: 0, unended: 0, slowestMs: 0 }
  return {
    tally,
    /** Must be called when a request is sent. */
    start: () => void tally.sent++,
    /** Must be called when the request has an outcome. */
    end({ status, ms, silent }: Pick<Exchange, 'status' | 'ms' | 'silent'>): void {
      tally.slowestMs = Math.max(tally.slowestMs, ms)
      if (silent) tally.silent++
      else if (status === 0) tally.lost++
      else tally[status] = (tally[status] ?? 0) + 1
      if (status >= 500 && status !== 503) tally.broken++
    },
  }
}
