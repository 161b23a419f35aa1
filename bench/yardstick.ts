import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Owner } from './owner.ts'

/**
 * How long a fixed piece of work takes now, in milliseconds: on all processors at the same time, on
 * average. Takes about 50 ms. What neighbours of a virtual machine take from its caches and its clock
 * is in no statistics of the kernel's.
 */
export type Yardstick = () => Promise<number>

const workMs = 10_000

/** @returns a yardstick with a thread for each processor */
export function startYardstick(owner: Owner): Yardstick {
  const threads = Array.from(
    { length: availableParallelism() },
    () => new Worker(new URL('yardstick-thread.js', import.meta.url)),
  )
  owner.add(() => Promise.all(threads.map((thread) => thread.terminate())))
  return async () => {
    const times = await Promise.all(threads.map(workOnce))
    return times.reduce((sum, time) => sum + time, 0) / times.length
  }
}

async function workOnce(thread: Worker): Promise<number> {
  thread.postMessage('work')
  const signal = AbortSignal.timeout(workMs)
  const answer = once(thread, 'message', { signal }).catch((cause: unknown) => {
    throw new Error(`a thread of the yardstick did not answer within ${workMs} ms`, { cause })
  })
  return ((await answer) as [number])[0]
}
