import type { AddressInfo } from 'node:net'
import fastify, { type FastifyPluginAsync } from 'fastify'
import { healthRoutes, type Degradations, type ReadinessCheck } from './health.ts'
import type { Registry } from './metrics.ts'

/**
 * Serves `/healthz`, `/readyz` and `/metrics` (Prometheus text) for operators, on a separate port so
 * that they are never published with the service.
 *
 * @param options.port 0 picks a free port
 * @param options.page more routes, which guard themselves
 * @returns the port, and `close()`
 */
export async function startAdminServer(options: {
  host: string
  port: number
  checks: Record<string, ReadinessCheck>
  degradations?: Degradations
  metrics: Registry
  page?: FastifyPluginAsync
}): Promise<{ port: number; close(): Promise<void> }> {
  const app = fastify({ requestTimeout: 10_000, forceCloseConnections: true })
  const { checks, degradations = () => [] } = options
  healthRoutes(app, { checks, degradations, reasons: true })
  app.get('/metrics', async (_request, reply) =>
    reply.type(options.metrics.contentType).send(await options.metrics.metrics()),
  )
  if (options.page !== undefined) await app.register(options.page)
  await app.listen({ host: options.host, port: options.port })
  const { port } = app.server.address() as AddressInfo
  return { port, close: () => app.close() }
}
