import type { Registry } from '@intake/runtime/process'
import type { FastifyPluginAsync } from 'fastify'
import { coalesce } from './coalesce.ts'
import { healthRoutes } from './health-routes.ts'
import type { Problems } from './problems.ts'
import { readStatus } from './status.ts'

/**
 * Returns the routes `/healthz`, `/readyz`, `/status` (JSON), `/scaling` (JSON) and `/metrics`
 * (Prometheus text) of a process. Concurrent requests to `/metrics` share one result, so that they
 * do not occupy the process.
 *
 * @param options.notes see `healthRoutes`
 * @param options.isDraining see `healthRoutes`
 * @param options.facts what `/status` shows of this service in addition to its problems
 * @param options.scaling the numbers for an autoscaler; undefined if they are not known: the
 * response is then 503, so that the autoscaler does not read zeros. Default: no such route
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
