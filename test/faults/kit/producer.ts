import { setTimeout as pause } from 'node:timers/promises'
import type { Event, History } from './history.ts'
import type { Payload } from './payload.ts'
import { createSender } from './sender.ts'

export interface ProducerOptions {
  /** Where to send; may change at any time. */
  urls: ReadonlySet<string>
  apiKey: string
  history: History
  payload: (seq: number) => Payload
  /**
   * Records per second. Each is sent when it is due, even if earlier ones have failed or are
   * pending.
   */
  rate: number
  /** While this many requests are pending, a record that becomes due is skipped. */
  clients?: number
  /** Returns how long the service has waited for a CPU so far; see `cpu-wait.ts`. */
  cpuWaitMs?: () => number
  /**
   * Every n-th record uses its own connection, where n is this number. By default no record does.
   */
  freshEvery?: number
}

export interface Producer {
  /** How many records have been issued so far. */
  issued(): number
  /** Whether all clients repeat what was refused, so that no further record can be issued. */
  isBusy(): boolean
  /**
   * Sends no new records, and repeats records that can be retried (`keyed`) for up to `repeatMs`.
   * Resolves when every record has an outcome.
   */
  stop(options?: { repeatMs?: number }): Promise<void>
  counts(): Record<Event['is'], number>
}

const tickMs = 10

/**
 * Sends records as a fleet of clients does, and writes the outcome of each attempt to the history.
 */
export function startProducer(options: ProducerOptions): Producer {
  const { urls, apiKey, history, payload, rate, clients = 512 } = options
  const { freshEvery = Infinity, cpuWaitMs = () => 0 } = options
  const sender = createSender({ apiKey, connections: clients })
  const underWay = new Set<Promise<void>>()
  const started = performance.now()
  const counts = { issued: 0, acknowledged: 0, refused: 0, unknown: 0 }
  let next = 1
  let due = 0
  let repeatUntil = Infinity
  let closed: Promise<void> | undefined

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
      const began = performance.now() - cpuWaitMs()
      const url = [...urls][(seq + attempt) % urls.size] ?? ''
      const { outcome, mayRetry, afterMs } = await sender.send(url, record, {
        isFresh: seq % freshEvery === 0,
      })
      const tookMs = Math.round(performance.now() - cpuWaitMs() - began)
      await note({ seq, attempt, ...outcome, ms: Math.max(0, tookMs) })
      if (!keyed || !mayRetry) return
      await pause(afterMs)
      if (performance.now() > repeatUntil) return
    }
  }

  return {
    issued: () => next - 1,
    isBusy: () => underWay.size >= clients,
    counts: () => ({ ...counts }),
    async stop({ repeatMs = 10_000 } = {}) {
      clearInterval(timer)
      repeatUntil = performance.now() + repeatMs
      await Promise.all(underWay)
      await (closed ??= sender.close())
    },
  }
}
