import type { Server } from 'node:http'
import { setImmediate as immediate } from 'node:timers/promises'
import { createClientErrorHandler } from './client-errors.ts'
import { Connections, type EndReason } from './connections.ts'
import type { Cors } from './cors.ts'
import { createEdgeServer } from './edge-server.ts'
import type { Exchange, Handler } from './exchange.ts'
import type { Gate } from './fairness/fair-gate.ts'
import type { ExchangeLimits } from './judge-exchange.ts'
import type { Refuse } from './refuse.ts'
import { createSweep, sweepClock, type SweepClock } from './sweep.ts'

export type HttpEdge = ReturnType<typeof createHttpEdge>

/** If ever more arrives, a gateway closes after this many turns, in less than a second. */
const turnsMax = 100

/**
 * Creates the layer between sockets and framework. Its first two members are options of Fastify.
 *
 * @param options.cors serves the requests of pages; default: as those of other clients
 * @param options.gate decides when requests are served; default: at once
 */
export function createHttpEdge(options: {
  connectionsMax: number
  limits: ExchangeLimits
  headersTimeoutMs: number
  keepAliveTimeoutMs: number
  refuse: Refuse
  onConnectionEnd?: (reason: EndReason) => void
  onExchangeEnd?: (exchange: Exchange, ms: number) => void
  cors?: Cors | undefined
  gate?: Gate
  clock?: SweepClock | undefined
}) {
  const { refuse, cors, gate, clock = sweepClock } = options
  const connections = new Connections({
    max: options.connectionsMax,
    onEnd: options.onConnectionEnd ?? (() => undefined),
    onExchangeEnd: options.onExchangeEnd ?? (() => undefined),
    clock,
  })
  const sweep = createSweep({ connections, limits: options.limits, clock })
  let server: Server | undefined

  return {
    serverFactory: (handler: Handler): Server => {
      server = createEdgeServer({ ...options, connections, sweep, gate, refuse, cors, handler })
      return server
    },
    clientErrorHandler: createClientErrorHandler(refuse, options.keepAliveTimeoutMs),
    connections: connections as Pick<Connections, 'authenticated' | 'counts' | 'leave'>,
    /** Connections close with their last response; requests in progress get a short timeout. */
    async drain(): Promise<void> {
      await untilNothingArrives(server)
      connections.drain()
      sweep.drain()
    },
  }
}

/**
 * Resolves after a turn of the event loop without a new connection or request. Closing the port
 * resets connections that are not accepted yet, closing a connection the request that is not read.
 */
async function untilNothingArrives(server: Server | undefined): Promise<void> {
  let arrivals = 0
  const count = () => void arrivals++
  server?.on('connection', count).on('request', count)
  // The first turn may already be past the phase in which Node reads.
  await immediate()
  for (let turn = 0, before = -1; before < arrivals && turn < turnsMax; turn++) {
    before = arrivals
    await immediate()
  }
  server?.off('connection', count).off('request', count)
}
