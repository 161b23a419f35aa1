import { setTimeout as pause } from 'node:timers/promises'
import { openConnection, type Connection } from './connection.ts'
import type { PreparedRequests } from './requests.ts'
import { sendUntilTaken } from './send-until-taken.ts'
import { createTally, type LoadResult } from './tally.ts'

/** Each connection sends its next request after the response to the last: as fast as possible. */
export interface ClosedLoop {
  loop: 'closed'
  /** Ports of the gateways; the connections are spread over them. */
  ports: number[]
  connections: number
  /** Ends after this time, or after `requestsMax`, whichever comes first. */
  seconds: number
  requestsMax?: number
  /** Between a response and the next request; default 0. */
  pauseMs?: number
  /** Every n-th request is sent again with the same bytes; default: none. */
  repeatEvery?: number
  /** Retries after a temporary refusal, as a client does; default: it is a failure. */
  retryRefusals?: boolean
}

export async function runClosedLoop(
  options: ClosedLoop & { keepAckTimes: boolean },
  requests: PreparedRequests,
): Promise<LoadResult> {
  const { ports, seconds, requestsMax = Infinity, pauseMs = 0 } = options
  const { repeatEvery = Infinity, retryRefusals = false } = options
  const tally = createTally({ ...options, eventsPerRequest: requests.eventsPerRequest })
  const connections = await Promise.all(
    Array.from({ length: options.connections }, (_, index) =>
      openConnection(ports[index % ports.length] as number),
    ),
  )
  const begin = performance.now()
  const end = begin + seconds * 1_000
  let next = 0

  const send = (connection: Connection, request: Buffer) =>
    retryRefusals
      ? sendUntilTaken({ connection, request, deadline: end, onRefused: tally.refused })
      : connection.send(request)

  await Promise.all(
    connections.map(async (connection) => {
      try {
        while (next < requestsMax && performance.now() < end) {
          const index = next++
          const request = requests.at(index)
          const sent = performance.now()
          const answer = await send(connection, request)
          tally.settled(answer, performance.now() - sent)
          if ((index + 1) % repeatEvery === 0) {
            tally.repeated(answer, await send(connection, request))
          }
          if (pauseMs > 0) await pause(pauseMs)
        }
      } catch (error) {
        // This connection has closed; the failure invalidates the whole measurement.
        tally.failed(error)
      } finally {
        connection.close()
      }
    }),
  )
  return tally.result((performance.now() - begin) / 1_000)
}
