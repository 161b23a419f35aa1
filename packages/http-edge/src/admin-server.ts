import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopbackAddress, isLoopbackHost } from '@intake/runtime'
import fastify, { type FastifyPluginAsync, type FastifyReply, type FastifyRequest } from 'fastify'
import { expectContinue } from './edge-server.ts'
import { createHttpEdge } from './http-edge.ts'
import { outwardAddresses, readRoutes } from './outward-addresses.ts'

const keepAliveTimeoutMs = 72_000
/** Maximum number of connections. Operators, probes and scrapers together need fewer. */
const connectionsMax = 500
/** The rate has no effect: there are no bodies. Queries of the page have shorter timeouts. */
const limits = { bodyBytesPerSecondMin: 4_096, responseTimeoutMs: 60_000 }

/** 255 characters, each of up to 12 when percent-encoded. */
const paramLengthMax = 255 * 12

/**
 * Gives a browser the route with the constraint `wants: 'html'`, and other clients the other one.
 */
const wants = {
  name: 'wants',
  storage<Route>() {
    const routes = new Map<unknown, Route>()
    return {
      get: (value: unknown) => routes.get(value) ?? null,
      set: (value: unknown, route: Route) => void routes.set(value, route),
    }
  },
  deriveConstraint: ({ headers }: IncomingMessage) =>
    headers.accept?.includes('text/html') ? 'html' : 'anything',
}

/**
 * Serves what operators need on a port of its own, so that it is never published with the service.
 * If the port is bound to loopback, `routes` accept only requests to a loopback name, so that no web
 * page in an operator's browser can read them (DNS rebinding).
 *
 * @param options.host an address of this machine, or `internal`: all its IPv4 addresses except those
 * of interfaces with a default route
 * @param options.port 0 picks a free port
 * @param options.page more routes, which authenticate requests themselves; a route with the
 * constraint `wants: 'html'` may have the path of one of `routes`
 * @param options.readTable returns the routing table of this machine; tests have one of their own
 */
export async function startAdminServer(options: {
  host: string
  port: number
  routes: FastifyPluginAsync
  page?: FastifyPluginAsync
  readTable?: () => string
}): Promise<{ port: number; close(): Promise<void> }> {
  const { host, routes, page, readTable = readRoutes } = options
  const edge = createHttpEdge({
    connectionsMax,
    limits,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs,
    refuse: ({ message }) => ({ type: 'text/plain; charset=utf-8', body: `${message}\n` }),
  })
  const app = fastify({
    serverFactory: edge.serverFactory,
    clientErrorHandler: edge.clientErrorHandler,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: paramLengthMax, constraints: { wants } },
  })
  // No route accepts a body.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  await app.register(expectContinue)
  await app.register(async (own) => {
    if (isLoopbackName(host)) own.addHook('onRequest', requireLoopbackHost)
    await own.register(routes)
  })
  if (page !== undefined) await app.register(page)
  const isInternal = host === 'internal'
  if (isInternal) {
    // Throws at the start where there is no such file.
    readTable()
    app.server.prependListener('connection', (socket) => {
      if (!isInward(socket.localAddress, readTable)) socket.destroy()
    })
  }
  await app.listen({ host: isInternal ? '0.0.0.0' : host, port: options.port })
  const { port } = app.server.address() as AddressInfo
  return { port, close: () => app.close() }
}

/**
 * The routes are read for each connection, because a container can join a network while it runs. If
 * they cannot be read, for example without a free file descriptor, no address counts as inward: an
 * error would end the process.
 */
function isInward(address = '', readTable: () => string): boolean {
  try {
    return !outwardAddresses(readTable()).has(address)
  } catch {
    return false
  }
}

const isLoopbackName = (host: string) => host === 'localhost' || isLoopbackAddress(host)

/**
 * A request without `Host` (possible in HTTP/1.0) does not come from a browser, so it is accepted.
 */
async function requireLoopbackHost(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { host } = request.headers
  if (host === undefined || isLoopbackHost(host)) return
  await reply.code(403).send({ status: 'this port accepts only requests to a loopback name' })
}
