import type { SeenRequest } from '@intake/sandbox'
import { readAttempt, type Attempt } from './attempt.ts'

export interface Witness {
  /** The sandbox calls this for every request, and again after each change of that request. */
  see(request: SeenRequest): void
  /** The requests, in the order in which they began. */
  attempts(): readonly Attempt[]
  /** Resolves when a request begins or changes, or when `signal` aborts. */
  change(signal: AbortSignal): Promise<void>
  forget(): void
}

export function createWitness(): Witness {
  let attempts = new Map<SeenRequest, Attempt>()
  const waiting = new Set<() => void>()

  return {
    see(request) {
      attempts.set(request, readAttempt(request))
      for (const wake of waiting) wake()
    },
    attempts: () => [...attempts.values()],
    change: (signal) =>
      new Promise((resolve) => {
        const end = () => {
          waiting.delete(end)
          signal.removeEventListener('abort', end)
          resolve()
        }
        waiting.add(end)
        if (signal.aborted) end()
        else signal.addEventListener('abort', end, { once: true })
      }),
    forget: () => (attempts = new Map()),
  }
}

/** Describes the last `max` requests, a line each, to help a person find the cause of a failure. */
export function describeAttempts(attempts: readonly Attempt[], max = 15): string[] {
  const first = attempts[0]?.seen.startedAt ?? 0
  const lines = attempts.slice(-max).map(({ seen, events, bytes }) => {
    const at = `+${Math.round(seen.startedAt - first)} ms`
    const what = events.length > 0 ? `${events.length} events, ${bytes} bytes` : `${bytes} bytes`
    return `${at} ${seen.method} ${seen.url} (${what}) → ${describeEnd(seen)}`
  })
  const omitted = attempts.length - lines.length
  return omitted > 0 ? [`(${omitted} requests before)`, ...lines] : lines
}

function describeEnd({ fault, status, decided, endedAt }: SeenRequest): string {
  if (endedAt === undefined) return 'still open'
  const stored = decided === undefined ? '' : `, stored with ${decided.status}`
  if (status === undefined) return `no response${fault && stored}`
  return `${status}${fault === undefined ? '' : ' by a fault'}`
}
