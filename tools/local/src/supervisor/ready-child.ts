import { setTimeout as delay } from 'node:timers/promises'

import { type Child, type ChildOptions, describeExit, startChild } from './child.ts'
import { StartError } from './start-error.ts'

const firstPauseMs = 20
const longestPauseMs = 200

export interface ReadyChildOptions extends ChildOptions {
  /** Resolves within a few seconds to whether the service responds as expected. */
  probe: () => Promise<boolean>
  readyMs: number
  signal?: AbortSignal | undefined
}

/**
 * Starts a process; resolves when its probe succeeds. If the process ends or is not ready in time,
 * rejects with a {@link StartError} that quotes its log. If `signal` aborts, rejects with its
 * reason. After a rejection the process is not running.
 */
export async function startReadyChild(options: ReadyChildOptions): Promise<Child> {
  const { probe, readyMs, signal } = options
  signal?.throwIfAborted()
  const child = startChild(options)
  const deadline = performance.now() + readyMs
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
    if (ready) return child
    if (performance.now() > deadline) {
      await child.stop()
      const seconds = Math.round(readyMs / 1000)
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
