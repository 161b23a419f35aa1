import { setTimeout as pause } from 'node:timers/promises'
import { queueNames, queuePrefix } from '@intake/queue'
import type { Bench } from './bench.ts'

const sampleMs = 200
/** A worker may pause for a minute between two attempts. */
const standstillMs = 75_000

/**
 * Waits until the log queue is empty. If events were sent twice, the number of rows does not show
 * whether more will come.
 *
 * @throws if nothing has left the queue for 75 s
 */
export async function untilDrained({ services, owner }: Bench): Promise<void> {
  const key = (name: string) => `${queuePrefix}:${queueNames.logs}:${name}`
  let least = Infinity
  let lastProgress = performance.now()
  while (performance.now() - lastProgress < standstillMs) {
    owner.signal.throwIfAborted()
    const counts = await Promise.all([
      services.keys.llen(key('wait')),
      services.keys.llen(key('active')),
      services.keys.zcard(key('delayed')),
    ])
    const frames = counts.reduce((sum, count) => sum + count, 0)
    if (frames === 0) return
    if (frames < least) {
      least = frames
      lastProgress = performance.now()
    }
    await pause(sampleMs)
  }
  throw new Error(`${least} frames have not left the queue for ${standstillMs} ms`)
}
