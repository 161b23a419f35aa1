import type { Registry } from '@intake/runtime/process'
import type { FastifyPluginAsync } from 'fastify'
import { coalesce } from './coalesce.ts'
import { healthRoutes } from './health-routes.ts'
import type { Problems } from './problems.ts'
import { readStatus } from './status.ts'

/**
 * The routes `/healthz`, `/readyz`, `/status` (JSON), `/scaling` (JSON) and `/metrics` (Prometheus
 * text). Concurrent requests to `/metrics` share one result.
 *
 * @param options.notes as `isDraining`: see `healthRoutes`
 * @param options.scaling the numbers for an autoscaler; while not known the response is 503, so
 * that it does not read zeros. Default: no such route
 */
export function adminRoutes(options: {
  service: string
  problems: Pick<Problems, 'present'>
  notes?: () => Record<string, string>
  isDraining?: () => boolean
  facts: () => object
  scaling?: () => Record<string, number> | undefined
  metrics: Registry
}): FastifyPluginAsync {
  const { service, problems, facts, scaling, metrics } = options
  return async (app) => {
    healthRoutes(app, { ...options, reasons: true })
    app.get('/status', () => ({ ...readStatus(service, problems), ...facts() }))
    if (scaling !== undefined) {
      app.get(
        '/scaling',
        async (_request, reply) => scaling() ?? reply.code(503).send({ status: 'not known' }),
      )
    }
    const render = coalesce(() => metrics.metrics())
    app.get('/metrics', async (_request, reply) =>
      reply.type(metrics.contentType).send(await render()),
    )
  }
}
