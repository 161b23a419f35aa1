import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { FastifyAdapter } from '@bull-board/fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createAccess, cutOffAfter, PageError, requireOwnSite, securityHeaders } from '@intake/page'
import { QueueView } from '@intake/queue'
import type { Redis } from '@intake/redis'

/** As in the addresses of its own requests. */
const path = '/queues'
const timeoutMs = 15_000
const headers = {
  ...securityHeaders,
  // Its styles are partly inline. Its fonts come from elsewhere and are left out.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data:; font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
}

/**
 * bull-board at `/queues`, read-only, with a password.
 *
 * @param options.redis of the role `consumer`; it belongs to the caller
 * @param options.queues names in Redis
 */
export function createQueueUi(options: {
  password: string
  redis: Redis
  queues: readonly string[]
  onError: (error: Error) => void
}): { register(app: FastifyInstance): Promise<void>; close(): Promise<void> } {
  const { password, redis, queues, onError } = options
  const requireAccess = createAccess(password)
  const views = queues.map((name) => new QueueView({ redis, name, onError }))
  const serverAdapter = new FastifyAdapter()
  serverAdapter.setBasePath(path)
  createBullBoard({
    queues: views.map((view) => new ReadOnlyAdapter(view, { readOnlyMode: true })),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Intake',
        hideDocsLink: true,
        showWorkers: false,
        showMetrics: false,
      },
    },
  })

  /** bull-board's own handler of errors would take a refusal for a fault. */
  async function guard(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.headers(headers)
    try {
      requireOwnSite(request)
      requireAccess(request, reply)
      if (request.method !== 'GET') throw new PageError(405, 'The queues are read-only.')
    } catch (error) {
      if (!(error instanceof PageError)) throw error
      await reply.code(error.status).type('text/plain').send(error.message)
      return
    }
    cutOffAfter(timeoutMs, reply)
  }

  return {
    async register(app) {
      await app.register(
        async (ui) => {
          ui.addHook('onRequest', guard)
          await ui.register(serverAdapter.registerPlugin())
        },
        { prefix: path },
      )
    },
    async close() {
      // BullMQ waits for the connection.
      if (redis.status === 'ready') await Promise.all(views.map((view) => view.close()))
    },
  }
}

class ReadOnlyAdapter extends BullMQAdapter {
  /** Reading the flow of a job would read its data. */
  override getFlowProducer(): Promise<null> {
    return Promise.resolve(null)
  }
}
