import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '@intake/test-kit/random'
import { openConnection, type Connection } from './connection.ts'
import type { PreparedRequests } from './requests.ts'
import { createTally, type LoadResult } from './tally.ts'

/**
 * A load whose requests become due at random moments (a Poisson process), independently of
 * responses. The latency of a request counts from the moment when it was due. So it includes the
 * wait for a stalled server, and delays of the generator.
 */
export interface OpenLoop {
  loop: 'open'
  ports: number[]
  rate: number
  seconds: number
  connections: number
}

const tickMs = 1
/**
 * Time for the server to accept the connections before the load starts. The kernel completes a
 * connection before the server accepts it, and the server needs a moment to accept hundreds.
 */
const acceptMs = 250

export async function runOpenLoop(
  options: OpenLoop,
  requests: PreparedRequests,
): Promise<LoadResult> {
  const { ports, rate, seconds } = options
  const tally = createTally(requests)
  const random = createRandom(Math.round(rate))
  const idle = await Promise.all(
    Array.from({ length: options.connections }, (_, index) =>
      openConnection(ports[index % ports.length] as number),
    ),
  )
  const all = [...idle]
  await pause(acceptMs)
  const due: number[] = []
  let next = 0
  const underWay = new Set<Connection>()

  async function send(connection: Connection, dueAt: number): Promise<void> {
    underWay.add(connection)
    try {
      const answer = await connection.send(requests.at(next++))
      tally.settled(answer, performance.now() - dueAt)
      idle.push(connection)
    } catch (error) {
      tally.failed(error)
    } finally {
      underWay.delete(connection)
      dispatch()
    }
  }

  function dispatch(): void {
    while (due.length > 0) {
      // Uses the connection that has been idle the longest. Otherwise the server might close a
      // connection because it stays idle.
      const connection = idle.shift()
      if (connection === undefined) return
      void send(connection, due.shift() as number)
    }
  }

  const begin = performance.now()
  const end = begin + seconds * 1_000
  let at = begin
  const interval = () => (-Math.log(1 - random()) / rate) * 1_000
  for (at += interval(); at < end;) {
    const now = performance.now()
    for (; at <= now && at < end; at += interval()) due.push(at)
    dispatch()
    await pause(tickMs)
  }
  const deadline = end + 30_000
  while ((underWay.size > 0 || due.length > 0) && performance.now() < deadline) await pause(tickMs)
  for (const _ of due) tally.failed(new Error('not sent until 30 s after the end'))
  for (const _ of underWay) tally.failed(new Error('no response until 30 s after the end'))
  for (const connection of all) connection.close()
  return tally.result((performance.now() - begin) / 1_000)
}
