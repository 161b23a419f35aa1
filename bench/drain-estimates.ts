import { setTimeout as pause } from 'node:timers/promises'

/** A worker's estimate about its backlog. */
export interface Estimate {
  /** Milliseconds since 1970. */
  at: number
  /** Rows in the queue, as the worker reported. */
  rows: number
  saidSeconds: number
  trueSeconds: number
}

interface Scaling {
  drain_seconds: number
  rows: number
}

const sampleMs = 1_000
/** `/scaling` reports a day if the queue is not getting shorter. */
const neverSeconds = 86_400

/**
 * Reads `/scaling` of a worker every second.
 *
 * @returns `stop` resolves to the estimates that were made before `endedAtMs`, the time when the
 * last row was stored
 */
export function watchDrain(
  adminUrl: string,
  signal: AbortSignal,
): { stop(endedAtMs: number): Promise<Estimate[]> } {
  const stopped = new AbortController()
  const ends = AbortSignal.any([signal, stopped.signal])
  const said: (Scaling & { at: number })[] = []

  async function watch(): Promise<void> {
    while (!ends.aborted) {
      const response = await fetch(`${adminUrl}/scaling`, { signal: AbortSignal.timeout(10_000) })
      const scaling = (await response.json()) as Scaling
      if (response.ok) said.push({ at: Date.now(), ...scaling })
      await pause(sampleMs, undefined, { signal: ends }).catch(() => {})
    }
  }
  const watching = watch()
  // A failure is reported by `stop`, which awaits `watching`.
  watching.catch(() => {})

  return {
    async stop(endedAtMs) {
      stopped.abort()
      await watching
      return said.flatMap(({ at, rows, drain_seconds: saidSeconds }) => {
        const isEstimate = rows > 0 && saidSeconds > 0 && saidSeconds < neverSeconds
        if (!isEstimate || at >= endedAtMs) return []
        return [{ at, rows, saidSeconds, trueSeconds: (endedAtMs - at) / 1_000 }]
      })
    },
  }
}
