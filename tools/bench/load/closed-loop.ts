import { openConnection } from './connection.ts'
import type { PreparedRequests } from './requests.ts'
import { createTally, type LoadResult } from './tally.ts'

/** A load in which each connection sends a request right after the response to the previous one. */
export interface ClosedLoop {
  loop: 'closed'
  /** Ports of the gateways; the connections are spread over them. */
  ports: number[]
  connections: number
  /** The load ends after this time or after `requestsMax` requests, whichever comes first. */
  seconds: number
  requestsMax?: number
}

export async function runClosedLoop(
  options: ClosedLoop,
  requests: PreparedRequests,
): Promise<LoadResult> {
  const { ports, seconds, requestsMax = Infinity } = options
  const tally = createTally(requests)
  const connections = await Promise.all(
    Array.from({ length: options.connections }, (_, index) =>
      openConnection(ports[index % ports.length] as number),
    ),
  )
  const begin = performance.now()
  const end = begin + seconds * 1_000
  let next = 0

  await Promise.all(
    connections.map(async (connection) => {
      try {
        while (next < requestsMax && performance.now() < end) {
          const request = requests.at(next++)
          const sent = performance.now()
          const answer = await connection.send(request)
          tally.settled(answer, performance.now() - sent)
        }
      } catch (error) {
        // This connection sends no more requests, because one failure invalidates the whole
        // measurement.
        tally.failed(error)
      } finally {
        connection.close()
      }
    }),
  )
  return tally.result((performance.now() - begin) / 1_000)
}
