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

type ResponseClass =
  /** Any status below 400 */
  | 'accepted'
  /** 4xx, except 429 */
  | 'refused'
  /** 429 */
  | 'throttled'
  /** 503 */
  | 'unavailable'
  /** 5xx, except 503. No request should get such a response. */
  | 'broken'
  /** The connection closed without a response. */
  | 'lost'
  /** When the timeout expired, the connection was open and there was no response. */
  | 'silent'
export type Tally = Record<'sent' | 'slowestMs' | ResponseClass, number>

/** Counts requests by the class of their response. */
export function createTally() {
  const tally: Tally = {
    sent: 0,
    accepted: 0,
    refused: 0,
    throttled: 0,
    unavailable: 0,
    broken: 0,
    lost: 0,
    silent: 0,
    slowestMs: 0,
  }
  return {
    tally,
    /** Must be called when a request is sent. */
    start: () => void tally.sent++,
    /** Must be called when the request has an outcome. */
    end(result: Pick<Exchange, 'status' | 'ms' | 'silent'>): void {
      tally.slowestMs = Math.max(tally.slowestMs, result.ms)
      tally[outcomeOf(result)]++
    },
  }
}

function outcomeOf({ status, silent }: Pick<Exchange, 'status' | 'silent'>): ResponseClass {
  if (silent) return 'silent'
  if (status === 0) return 'lost'
  if (status < 400) return 'accepted'
  if (status === 429) return 'throttled'
  if (status < 500) return 'refused'
  return status === 503 ? 'unavailable' : 'broken'
}
