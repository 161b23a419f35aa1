import { IntakeError } from '@intake/contract'
import { systemClock, type Clock } from '@intake/runtime'
import { isIdle, type Connections } from './connections.ts'
import { ignoreFollowing, type Connection, type Exchange } from './exchange.ts'
import { judgeExchange, type ExchangeLimits } from './judge-exchange.ts'
import { lingerMs } from './linger.ts'

/** The source of time, and the interval of sweeps, which is shorter in tests. */
export interface SweepClock extends Pick<Clock, 'now'> {
  intervalMs: number
}

export const sweepClock: SweepClock = { now: systemClock.now, intervalMs: 500 }

const stepMsMax = 1_000
/**
 * Timeout for requests in progress after `drain`. The process itself is killed after ten seconds.
 */
const drainMs = 7_000
const lastWordMs = 1_000

export type Sweep = ReturnType<typeof createSweep>

/**
 * Checks every connection twice a second and ends what takes too long: slow bodies, requests
 * without a response, unread responses. One timer serves all connections, so a request needs no
 * timer of its own. A pause of this process counts as at most one second, because the process could
 * not read what clients sent meanwhile.
 */
export function createSweep(options: {
  connections: Connections
  limits: ExchangeLimits
  clock: SweepClock
}) {
  const { connections, limits, clock } = options
  let timer: NodeJS.Timeout | undefined
  let last = 0
  let drainingMs: number | undefined

  function sweep(): void {
    if (connections.isEmpty()) return stop()
    const now = clock.now()
    const elapsedMs = Math.min(now - last, stepMsMax)
    last = now
    if (drainingMs !== undefined) drainingMs += elapsedMs
    for (const connection of connections.all()) checkConnection(connection, elapsedMs)
  }

  function checkConnection(connection: Connection, elapsedMs: number): void {
    connection.sweeps++
    const [exchange] = connection.exchanges
    if (exchange !== undefined) judge(connection, exchange, elapsedMs)
    else if (connection.unwanted !== undefined) {
      connection.unwanted.ms += elapsedMs
      if (connection.unwanted.request.complete) connection.unwanted = undefined
      else if (connection.unwanted.ms > lingerMs) connections.end(connection, 'unwanted')
    } else if (drainingMs !== undefined && isIdle(connection)) {
      connections.end(connection, 'closing')
    }
  }

  function fail(exchange: Exchange, error: IntakeError): void {
    if (!failExchange(exchange, error)) connections.end(exchange.connection, 'timeout')
  }

  function judge(connection: Connection, exchange: Exchange, elapsedMs: number): void {
    if (drainingMs !== undefined && drainingMs > drainMs) {
      if (drainingMs > drainMs + lastWordMs) connections.end(connection, 'closing')
      else for (const one of connection.exchanges) fail(one, givenUp(one))
      return
    }
    switch (judgeExchange(exchange, elapsedMs, limits)) {
      case 'slow_body':
        fail(exchange, tooSlow(limits))
        break
      case 'endless_body':
        fail(exchange, new IntakeError('body_too_large', 'The body does not end.'))
        break
      case 'no_response':
        fail(exchange, new IntakeError('outcome_unknown', 'The request took too long.'))
        break
      case 'unread':
        connections.end(connection, 'unread')
        break
      case 'fine':
        break
    }
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** The timer stops when no connection is open, so this is called for every new connection. */
    start(): void {
      if (timer !== undefined) return
      last = clock.now()
      timer = setInterval(sweep, clock.intervalMs)
    },
    /** From now on requests in progress have a short timeout. */
    drain(): void {
      drainingMs ??= 0
    },
    stop,
  }
}

/**
 * Fails the request with an error that becomes its response. Returns false if this is impossible,
 * because the request has not begun a step that can fail. If the head of a response has already
 * been sent, does nothing and returns true.
 */
function failExchange(exchange: Exchange, error: IntakeError): boolean {
  const { request, response, fail } = exchange
  if (response.headersSent) return true
  if (fail === undefined) return false
  ignoreFollowing(request)
  response.setHeader('connection', 'close')
  fail(error)
  exchange.fail = undefined
  return true
}

function tooSlow({ bodyBytesPerSecondMin }: ExchangeLimits): IntakeError {
  const detail = `The body must arrive at ${bodyBytesPerSecondMin} bytes per second.`
  return new IntakeError('request_timeout', detail)
}

function givenUp({ request }: Exchange): IntakeError {
  return request.complete
    ? new IntakeError('outcome_unknown', 'The gateway is closing.')
    : new IntakeError('busy', 'The gateway is closing.')
}
