import type { FastifyInstance } from 'fastify'
import { withTimeout } from './timeout.ts'

/** Resolves when the dependency is usable; rejects with the reason, in words for an operator. */
export type ReadinessCheck = () => Promise<void> | void

const checkTimeoutMs = 1_000

/** What is degraded, in words for an operator; empty: nothing. */
export type Degradations = () => string[]

/**
 * Runs all checks concurrently, each within a second. Returns the reason of each failed check, by its
 * name.
 */
async function readiness(checks: Record<string, ReadinessCheck>): Promise<Record<string, string>> {
  const failed = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withTimeout(Promise.resolve().then(check), checkTimeoutMs, name)
        return []
      } catch (error) {
        return [[name, error instanceof Error ? error.message : 'failed'] as const]
      }
    }),
  )
  return Object.fromEntries(failed.flat())
}

/**
 * `GET /healthz`: 200 while the process serves (liveness; checks no dependency). `GET /readyz`: 200
 * when every check passes, else 503, with names and reasons if `reasons` is set. A process that works
 * only in part is `ready, degraded`, so that a load balancer keeps it.
 */
export function healthRoutes(
  app: FastifyInstance,
  options: {
    checks: Record<string, ReadinessCheck>
    degradations: Degradations
    reasons: boolean
  },
): void {
  const { checks, degradations, reasons } = options
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const failed = await readiness(checks)
    if (Object.keys(failed).length > 0) {
      return reply.code(503).send({ status: 'not ready', ...(reasons && { failed }) })
    }
    const degraded = degradations()
    if (degraded.length === 0) return { status: 'ready' }
    return { status: 'ready, degraded', ...(reasons && { degraded }) }
  })
}
