import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { FastifyAdapter } from '@bull-board/fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createAccess, cutOffAfter, PageError, requireOwnSite, securityHeaders } from '@intake/page'
import { queueNames, QueueView, readShards } from '@intake/queue'
import type { Redis } from '@intake/redis'
import { startPolling, withTimeout } from '@intake/runtime'

/** As in the addresses of its own requests. */
const path = '/queues'
const timeoutMs = 15_000
/** Of looking for shards of the log queue that are not shown yet. */
const shards = { intervalMs: 10_000, timeoutMs: 5_000 }
const headers = {
  ...securityHeaders,
  // Its styles are partly inline. Its fonts come from elsewhere and are left out.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data:; font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
}

/**
 * bull-board at `/queues`, read-only, with a password. Shards of the log queue beyond the first are queues of their
 * own: `shard-1:logs`.
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
  const views: QueueView[] = []
  const shown = new Set([0])
  function adapterOf(name: string, shard: number): ReadOnlyAdapter {
    const view = new QueueView({ redis, name, shard, onError })
    views.push(view)
    return new ReadOnlyAdapter(view, {
      readOnlyMode: true,
      ...(shard > 0 && { prefix: `shard-${shard}:` }),
    })
  }
  const serverAdapter = new FastifyAdapter()
  serverAdapter.setBasePath(path)
  const board = createBullBoard({
    queues: queues.map((name) => adapterOf(name, 0)),
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

  const polling = startPolling({
    async poll() {
      // The connection would keep the command until then.
      if (redis.status !== 'ready') return
      const known = await withTimeout(readShards(redis), shards.timeoutMs, 'reading the shards')
      for (const shard of known.filter((one) => !shown.has(one))) {
        shown.add(shard)
        board.addQueue(adapterOf(queueNames.logs, shard))
      }
    },
    intervalMs: shards.intervalMs,
    onError: (error) => onError(error as Error),
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
      polling.close()
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
