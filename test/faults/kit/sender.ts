import { gzipSync } from 'node:zlib'
import { Agent, FormData, request } from 'undici'
import type { Payload } from './payload.ts'

/** The outcome of one attempt to send one record. */
export type AttemptOutcome =
  | { is: 'acknowledged'; id: string }
  /** The response means "not stored", or the request was never sent (the status is then 0). */
  | { is: 'refused'; status: number; code: string }
  /** There was no response, or it means "maybe stored". */
  | { is: 'unknown'; why: string }

export interface Sent {
  outcome: AttemptOutcome
  /** Whether the documented rules allow a retry. */
  mayRetry: boolean
  /** The pause before the next attempt. */
  afterMs: number
}

export interface Sender {
  /**
   * Makes one attempt to send a record.
   *
   * @param options.isFresh whether to use a new connection, which is closed after the response
   */
  send(url: string, record: Payload, options?: { isFresh?: boolean }): Promise<Sent>
  close(): Promise<void>
}

/** How long the sender waits for a response: much longer than every timeout of the service. */
const timeoutMs = 40_000
const retryable = new Set([408, 429, 502, 503, 504])
const neverSent = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT'])

/** Sends records as a client does. */
export function createSender(options: { apiKey: string; connections: number }): Sender {
  const { apiKey, connections } = options
  const timeouts = { connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  const agent = new Agent(timeouts)
  const freshAgent = new Agent(timeouts)

  return {
    async send(url, record, { isFresh = false } = {}) {
      try {
        const { statusCode, headers, body } = await request(url + record.path, {
          method: 'POST',
          dispatcher: isFresh ? freshAgent : agent,
          reset: isFresh,
          headers: {
            'x-api-key': apiKey,
            ...(record.idempotencyKey !== undefined && {
              'idempotency-key': record.idempotencyKey,
            }),
            ...(record.kind === 'logs' && { 'content-type': 'application/json' }),
            ...(isBatch(record) && { 'content-encoding': 'gzip' }),
          },
          body: bodyOf(record),
        })
        const whole = (await body.json()) as Reply & { results?: [Reply] }
        const reply = whole.results?.[0] ?? whole
        const code = reply.code ?? ''
        const afterMs = Math.min(Number(headers['retry-after'] ?? 1), 2) * 1000
        if (statusCode === 201 || reply.status === 'accepted' || reply.status === 'dropped') {
          return { outcome: { is: 'acknowledged', id: reply.id ?? '' }, mayRetry: false, afterMs }
        }
        const mayRetry = retryable.has(statusCode)
        if (code === 'outcome_unknown') {
          return { outcome: { is: 'unknown', why: code }, mayRetry, afterMs }
        }
        return { outcome: { is: 'refused', status: statusCode, code }, mayRetry, afterMs }
      } catch (error) {
        const why = (error as NodeJS.ErrnoException).code ?? String(error)
        const outcome: AttemptOutcome = neverSent.has(why)
          ? { is: 'refused', status: 0, code: why }
          : { is: 'unknown', why }
        return { outcome, mayRetry: true, afterMs: 200 }
      }
    },
    async close() {
      await Promise.all([agent.close(), freshAgent.close()])
    },
  }
}

/** The response to a request, or the result of the only entry of a batch. */
interface Reply {
  id?: string
  code?: string
  status?: unknown
}

const isBatch = ({ path }: Payload) => path.endsWith('/batch')

function bodyOf(record: Payload): string | Buffer | FormData {
  if (record.kind === 'feedback') return form(record)
  const json = JSON.stringify(record.body)
  return isBatch(record) ? gzipSync(json) : json
}

function form({ body, images }: Payload): FormData {
  const data = new FormData()
  data.append('payload', JSON.stringify(body))
  for (const { name, type, bytes } of images) {
    data.append('attachments', new Blob([new Uint8Array(bytes)], { type }), name)
  }
  return data
}
