import { withDeadline } from '@intake/runtime'

const intervalMs = 5_000
const answerMs = 2_000

/**
 * Tells when frames have been waiting for `limitMs` although this consumer, with none in hand, took
 * none: such a consumer is alive, answers health checks, and will never work again.
 *
 * @returns `close()`
 */
export function watchForStandstill(options: {
  waiting: () => Promise<number>
  /** How many frames have been taken so far, and how many of them are in hand. */
  progress: () => { taken: number; inHand: number }
  limitMs: number
  onStandstill: () => void
}): { close(): void } {
  const { waiting, progress, limitMs, onStandstill } = options
  let takenBefore = -1
  let stoodStillSince: number | undefined

  const look = async (): Promise<void> => {
    const { taken, inHand } = progress()
    const idle = taken === takenBefore && inHand === 0
    takenBefore = taken
    // A queue that cannot be asked has nothing to hand out either.
    const waits = idle && (await withDeadline(waiting(), answerMs, 'asking').catch(() => 0)) > 0
    if (!waits) {
      stoodStillSince = undefined
      return
    }
    stoodStillSince ??= performance.now()
    if (performance.now() - stoodStillSince >= limitMs) onStandstill()
  }
  const timer = setInterval(() => void look(), Math.min(intervalMs, limitMs))
  return { close: () => clearInterval(timer) }
}
