import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Agent, FormData, request } from 'undici'
import type { Event, History } from './history.ts'
import type { Payload } from './payload.ts'

export interface ProducerOptions {
  /** Where to send; may change at any time. */
  urls: ReadonlySet<string>
  apiKey: string
  history: History
  payload: (seq: number) => Payload
  /** Records per second. They are sent when they are due, whatever became of the earlier ones. */
  rate: number
  /** Requests under way at once; a record that finds no place is not issued. */
  clients?: number
  /** One of so many records goes over a connection of its own; default: none. */
  freshEvery?: number
}

export interface Producer {
  /** Numbers that have been issued so far. */
  issued(): number
  /** Issues no more, keeps repeating the keyed ones for a while, resolves when all have an outcome. */
  stop(options?: { repeatMs?: number }): Promise<void>
  counts(): Record<Event['is'], number>
}

/** After this the sender gives up waiting for an answer: far beyond every deadline of the service. */
const patienceMs = 40_000
const retryable = new Set([408, 429, 502, 503, 504])
const neverSent = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT'])
const tickMs = 10

/** Sends records as a fleet of clients does, and writes down what became of each attempt. */
export function startProducer(options: ProducerOptions): Producer {
  const { urls, apiKey, history, payload, rate, clients = 512, freshEvery = Infinity } = options
  const connections = { connections: clients, headersTimeout: patienceMs, bodyTimeout: patienceMs }
  const agent = new Agent(connections)
  const freshAgent = new Agent(connections)
  const underWay = new Set<Promise<void>>()
  const started = performance.now()
  const counts = { issued: 0, acknowledged: 0, refused: 0, unknown: 0 }
  let next = 1
  let due = 0
  let repeatUntil = Infinity
  let closed: Promise<void[]> | undefined

  const timer = setInterval(() => {
    const dueNow = Math.floor(((performance.now() - started) / 1000) * rate)
    for (; due < dueNow; due++) {
      if (underWay.size >= clients) continue
      const sending = deliver(next++).finally(() => underWay.delete(sending))
      underWay.add(sending)
    }
  }, tickMs)

  async function note(event: Event): Promise<void> {
    counts[event.is]++
    await history.append(event)
  }

  async function deliver(seq: number): Promise<void> {
    const record = payload(seq)
    const { kind, keyed } = record
    for (let attempt = 1; ; attempt++) {
      await note({ seq, attempt, is: 'issued', kind, keyed })
      const sentAt = performance.now()
      const { outcome, mayRetry, afterMs } = await send(seq, attempt, record)
      await note({ ...outcome, ms: Math.round(performance.now() - sentAt) } as Event)
      if (!keyed || !mayRetry) return
      await pause(afterMs)
      if (performance.now() > repeatUntil) return
    }
  }

  async function send(seq: number, attempt: number, record: Payload) {
    const base = { seq, attempt }
    const url = [...urls][(seq + attempt) % urls.size] ?? ''
    const isFresh = seq % freshEvery === 0
    try {
      const { statusCode, headers, body } = await request(url + pathOf(record), {
        method: 'POST',
        dispatcher: isFresh ? freshAgent : agent,
        // The connection ends with the response.
        reset: isFresh,
        headers: {
          'x-api-key': apiKey,
          ...(record.keyed && !record.batched && { 'idempotency-key': `key-${seq}` }),
          ...(record.kind === 'logs' && { 'content-type': 'application/json' }),
          ...(record.batched && { 'content-encoding': 'gzip' }),
        },
        body: bodyOf(record),
      })
      const whole = (await body.json()) as Answer & { results?: [Answer] }
      const answer = whole.results?.[0] ?? whole
      const code = answer.code ?? ''
      const afterMs = Math.min(Number(headers['retry-after'] ?? 1), 2) * 1000
      if (statusCode === 201 || answer.status === 'accepted') {
        return { outcome: { ...base, is: 'acknowledged', id: answer.id }, mayRetry: false, afterMs }
      }
      const outcome =
        code === 'outcome_unknown'
          ? { ...base, is: 'unknown', why: code }
          : { ...base, is: 'refused', status: statusCode, code }
      return { outcome, mayRetry: retryable.has(statusCode), afterMs }
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? String(error)
      const outcome = neverSent.has(why)
        ? { ...base, is: 'refused', status: 0, code: why }
        : { ...base, is: 'unknown', why }
      return { outcome, mayRetry: true, afterMs: 200 }
    }
  }

  return {
    issued: () => next - 1,
    counts: () => ({ ...counts }),
    async stop({ repeatMs = 10_000 } = {}) {
      clearInterval(timer)
      repeatUntil = performance.now() + repeatMs
      await Promise.all(underWay)
      await (closed ??= Promise.all([agent.close(), freshAgent.close()]))
    },
  }
}

/** Of a request, or of the only entry of a batch. */
interface Answer {
  id?: string
  code?: string
  status?: unknown
}

function pathOf({ kind, batched }: Payload): string {
  if (kind === 'feedback') return '/api/feedback'
  return batched ? '/api/log/batch' : '/api/log'
}

function bodyOf(record: Payload): string | Buffer | FormData {
  if (record.kind === 'feedback') return form(record)
  const json = JSON.stringify(record.body)
  return record.batched ? gzipSync(json) : json
}

function form({ body, images }: Payload): FormData {
  const data = new FormData()
  data.append('payload', JSON.stringify(body))
  for (const { name, type, bytes } of images) {
    data.append('attachments', new Blob([new Uint8Array(bytes)], { type }), name)
  }
  return data
}
