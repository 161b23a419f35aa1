import { setTimeout as delay } from 'node:timers/promises'

import { type Child, describeExit } from './child.ts'
import { StartError } from './start-error.ts'

const firstPauseMs = 20
const longestPauseMs = 200

export interface UntilReadyOptions {
  child: Child
  /** Resolves within a few seconds to whether the service responds as expected. */
  probe: () => Promise<boolean>
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/**
 * Resolves when the probe succeeds while the child is running. If the child ends or is not ready in
 * time, rejects with a {@link StartError} that quotes the child's log. If `signal` aborts, rejects
 * with its reason. After a rejection the child is not running.
 */
export async function untilReady({ child, probe, timeoutMs, signal }: UntilReadyOptions) {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const ready = await probe()
    if (!child.running()) {
      const how = describeExit(await child.exited)
      throw new StartError(`${child.name} ended before it was ready (${how}). ${logHint(child)}`)
    }
    if (signal?.aborted) {
      await child.stop()
      signal.throwIfAborted()
    }
    if (ready) return
    if (performance.now() > deadline) {
      await child.stop()
      const seconds = Math.round(timeoutMs / 1000)
      throw new StartError(`${child.name} was not ready within ${seconds} s. ${logHint(child)}`)
    }
    await Promise.race([child.exited, delay(pauseMs)])
  }
}

function logHint(child: Child) {
  const tail = child.logTail()
  return tail === ''
    ? `Its log is empty: ${child.logFile}`
    : `Its log ${child.logFile} ends with: ${tail}`
}
