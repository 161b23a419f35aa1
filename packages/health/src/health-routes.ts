import type { FastifyInstance } from 'fastify'
import { isReady, type Problems } from './problems.ts'

/**
 * Serves `GET /healthz` (checks no dependency): 200 while the process works, 503 when only a
 * restart helps; and `GET /readyz`: 200 while the service does its job, if degraded as `ready,
 * degraded`, so that load balancers keep sending; otherwise 503.
 *
 * @param options.notes what an operator should know although it is not a problem
 * @param options.isDraining whether load balancers must stop sending requests
 * @param options.reasons whether responses contain codes, details and notes
 */
export function healthRoutes(
  app: FastifyInstance,
  options: {
    problems: Pick<Problems, 'present'>
    notes?: (() => Record<string, string>) | undefined
    isDraining?: (() => boolean) | undefined
    reasons: boolean
  },
): void {
  const { problems, reasons } = options
  app.get('/healthz', async (_request, reply) => {
    const stuck = problems.present().find(({ code }) => code === 'worker_stuck')
    if (stuck === undefined) return { status: 'ok' }
    return reply.code(503).send({ status: 'stuck', ...(reasons && { detail: stuck.detail }) })
  })
  app.get('/readyz', async (_request, reply) => {
    if (options.isDraining?.()) return reply.code(503).send({ status: 'draining' })
    const present = problems.present()
    const details = (state: string) =>
      Object.fromEntries(
        present.flatMap((problem) =>
          problem.state === state ? [[problem.code, problem.detail]] : [],
        ),
      )
    if (!isReady(present)) {
      return reply
        .code(503)
        .send({ status: 'not ready', ...(reasons && { failed: details('down') }) })
    }
    const notes = (reasons && options.notes?.()) || {}
    const noted = Object.keys(notes).length > 0 && { notes }
    if (present.length === 0) return { status: 'ready', ...noted }
    return {
      status: 'ready, degraded',
      ...(reasons && { degraded: details('degraded') }),
      ...noted,
    }
  })
}
