import type { FastifyInstance } from 'fastify'
import { withDeadline } from './deadline.ts'

/** Resolves when the dependency can be used; rejects with the reason, in words for an operator. */
export type ReadinessCheck = () => Promise<void> | void

const checkDeadlineMs = 1_000

/** Runs all checks at once, each within a second; the reason per failed check, by its name. */
async function readiness(checks: Record<string, ReadinessCheck>): Promise<Record<string, string>> {
  const failed = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withDeadline(Promise.resolve().then(check), checkDeadlineMs, name)
        return []
      } catch (error) {
        return [[name, error instanceof Error ? error.message : 'failed'] as const]
      }
    }),
  )
  return Object.fromEntries(failed.flat())
}

/**
 * `GET /healthz`: 200 while the process serves (liveness; no dependency is asked).
 * `GET /readyz`: 200 when every check passes, else 503, with names and reasons when `reasons` is set.
 */
export function healthRoutes(
  app: FastifyInstance,
  options: { checks: Record<string, ReadinessCheck>; reasons: boolean },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const failed = await readiness(options.checks)
    if (Object.keys(failed).length === 0) return { status: 'ready' }
    return reply.code(503).send({ status: 'not ready', ...(options.reasons && { failed }) })
  })
}
