import { queueNames, queuePrefix } from '@intake/queue'
import { until } from '@intake/test-kit/until'
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
  const isEmpty = async () => {
    const counts = await Promise.all([
      services.keys.llen(key('wait')),
      services.keys.llen(key('active')),
      services.keys.zcard(key('delayed')),
    ])
    least = Math.min(
      least,
      counts.reduce((sum, count) => sum + count, 0),
    )
    return least === 0 || owner.signal.aborted
  }
  const options = { progress: () => least, stallMs: standstillMs, everyMs: sampleMs }
  await until('the queue is empty', isEmpty, options)
  owner.signal.throwIfAborted()
}
