import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyPluginAsync, type FastifyReply, type FastifyRequest } from 'fastify'
import { createHttpEdge, expectContinue } from '@intake/http-edge'
import { isLoopbackAddress, isLoopbackHost } from '@intake/runtime'
import type { Registry } from '@intake/runtime/process'
import { healthRoutes } from './health-routes.ts'
import type { Problems } from './problems.ts'
import { coalesce } from './coalesce.ts'
import { outwardAddresses, readRoutes } from './outward-addresses.ts'
import { readStatus } from './status.ts'

const keepAliveTimeoutMs = 72_000
/** Maximum number of connections. Operators, probes and scrapers together need fewer. */
const connectionsMax = 500
/**
 * Limits for one request. The minimum rate has no effect, because requests to this server have no
 * body. The response timeout is longer than the timeout of any query of the page.
 */
const limits = { bodyBytesPerSecondMin: 4_096, responseTimeoutMs: 60_000 }

/**
 * Maximum length of a path parameter: an identifier has up to 255 characters, and each takes up to
 * 12 characters when it is percent-encoded.
 */
const paramLengthMax = 255 * 12

/**
 * Selects between two routes with the same path. A browser gets the route with the constraint
 * `wants: 'html'`; every other client gets the route without this constraint.
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
 * Serves `/healthz`, `/readyz`, `/status` (JSON), `/scaling` (JSON) and `/metrics` (Prometheus
 * text). These routes are for operators. They have a separate port, so that they are never
 * published with the service. Concurrent requests to `/metrics` share one result, so that they do
 * not occupy the process. If the port is bound to loopback, these routes accept only requests to a
 * loopback name, so that no web page in an operator's browser can read them (DNS rebinding).
 *
 * @param options.host an address of this machine, or `internal`: all its IPv4 addresses except those
 * of interfaces with a default route
 * @param options.port 0 picks a free port
 * @param options.notes see `healthRoutes`
 * @param options.isDraining see `healthRoutes`
 * @param options.facts what `/status` shows of this service in addition to its problems
 * @param options.scaling the numbers for an autoscaler; undefined if they are not known: the
 * response is then 503, so that the autoscaler does not read zeros. Default: no such route
 * @param options.page more routes, which authenticate requests themselves; a route with the
 * constraint `wants: 'html'` may have the path of one of the routes above
 * @returns the port, and `close()`
 */
export async function startAdminServer(options: {
  service: string
  host: string
  port: number
  problems: Pick<Problems, 'present'>
  notes?: () => Record<string, string>
  isDraining?: () => boolean
  facts: () => object
  scaling?: () => Record<string, number> | undefined
  metrics: Registry
  page?: FastifyPluginAsync
  routes?: () => string
}): Promise<{ port: number; close(): Promise<void> }> {
  const { service, problems, facts, scaling, metrics, routes = readRoutes } = options
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
  const { notes, isDraining } = options
  await app.register(async (own) => {
    if (isLoopbackName(options.host)) own.addHook('onRequest', requireLoopbackHost)
    healthRoutes(own, { problems, notes, isDraining, reasons: true })
    own.get('/status', () => ({ ...readStatus(service, problems), ...facts() }))
    if (scaling !== undefined) {
      own.get(
        '/scaling',
        async (_request, reply) => scaling() ?? reply.code(503).send({ status: 'not known' }),
      )
    }
    const render = coalesce(() => metrics.metrics())
    own.get('/metrics', async (_request, reply) =>
      reply.type(metrics.contentType).send(await render()),
    )
  })
  if (options.page !== undefined) await app.register(options.page)
  const isInternal = options.host === 'internal'
  if (isInternal) {
    // Throws at the start where there is no such file.
    routes()
    app.server.prependListener('connection', (socket) => {
      // Read for each connection, because a container can join a network while it runs.
      if (outwardAddresses(routes()).has(socket.localAddress ?? '')) socket.destroy()
    })
  }
  await app.listen({ host: isInternal ? '0.0.0.0' : options.host, port: options.port })
  const { port } = app.server.address() as AddressInfo
  return { port, close: () => app.close() }
}

const isLoopbackName = (host: string) => host === 'localhost' || isLoopbackAddress(host)

/**
 * Refuses a request whose `Host` is not a loopback name. A request without `Host` (possible in
 * HTTP/1.0) is accepted, because it does not come from a browser: browsers always send `Host`.
 */
async function requireLoopbackHost(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { host } = request.headers
  if (host === undefined || isLoopbackHost(host)) return
  await reply.code(403).send({ status: 'this port accepts only requests to a loopback name' })
}
